//! Output of a panic: its location, and the message only where it cannot contain foreign data.
//!
//! The message of a panic may have been made of anything, also of what was on its way at that
//! moment; only those that stand in the source as they are, are shown.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, Once, PoisonError};

/// Installs the panic hook.
pub(crate) fn tell_quietly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let trace = Backtrace::capture();
            let is_wanted = trace.status() == BacktraceStatus::Captured;
            let trace = if is_wanted { format!("{trace}\n") } else { String::new() };
            write(&format!("{}{trace}", told(info)));
        }));
    });
}

/// Messages that wait for [`release`]; none where they are written at once.
static HELD: Mutex<Option<String>> = Mutex::new(None);

/// Holds messages back from now on, while the terminal shows something else.
pub(crate) fn hold() {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// Writes what was held back, and all later messages at once.
pub(crate) fn release() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    write(&held.unwrap_or_default());
}

fn write(text: &str) {
    if let Some(held) = HELD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        return held.push_str(text);
    }
    // If this fails, there is nowhere left to report it.
    _ = std::io::stderr().write_all(text.as_bytes());
}

fn told(info: &PanicHookInfo<'_>) -> String {
    let place =
        info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let what = match info.payload().downcast_ref::<&'static str>() {
        Some(text) => format!(": {text}"),
        None => String::new(),
    };
    format!(
        "s3haul: internal error{place} (thread `{thread}`){what}\n\
         hint: this is a defect of s3haul: please report it with the version and this place\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_while_the_terminal_shows_something_else() {
        let held = || HELD.lock().unwrap().clone();
        hold();
        write("held back\n");
        hold();
        assert_eq!(held().as_deref(), Some("held back\n"), "it is held once");
        release();
        assert_eq!(held(), None);
    }

    /// The hook is everybody's: it is only this test's for the threads of this test.
    #[test]
    fn only_texts_of_the_source_are_printed() {
        static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|info| {
            let is_ours = std::thread::current().name() == Some("planted");
            if is_ours {
                SEEN.lock().unwrap().push(told(info));
            }
        }));
        let planted = |panics: fn()| {
            let thread = std::thread::Builder::new().name("planted".to_owned());
            thread.spawn(panics).unwrap().join().unwrap_err();
        };
        planted(|| panic!("a plain text"));
        planted(|| {
            let (known, made) = ("wJalr", String::from("wJalrXUtnFEMI"));
            assert_eq!(known, made);
        });
        std::panic::set_hook(before);
        let seen = SEEN.lock().unwrap();
        assert!(seen[0].contains("panics.rs:") && seen[0].contains(": a plain text\n"), "{seen:?}");
        assert!(seen[1].contains("panics.rs:") && !seen[1].contains("wJalr"), "{seen:?}");
    }
}
