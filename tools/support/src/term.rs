//! The only place that prints. Data and headings go to stdout, failures to stderr; colour only on
//! a terminal and never with `NO_COLOR`. A closed pipe ends output silently.

use std::io::{IsTerminal, Write};

/// Prints a plain line.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints a heading.
pub fn heading(text: &str) {
    line(&paint("1", text));
}

/// Prints a remark that matters less than what surrounds it.
pub fn dim(text: &str) {
    line(&paint("2", text));
}

/// Prints what went well.
pub fn good(text: &str) {
    line(&paint("32", text));
}

/// Prints what failed, to stderr.
pub fn error(text: &str) {
    let painted = std::io::stderr().is_terminal() && colour_wanted();
    let label = if painted { "\x1b[1;31merror\x1b[0m" } else { "error" };
    let _ = writeln!(std::io::stderr().lock(), "{label}: {text}");
}

fn paint(code: &str, text: &str) -> String {
    if std::io::stdout().is_terminal() && colour_wanted() {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

fn colour_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A duration as people read it: `0.31 s`, `12.4 s`, `3 min 05 s`.
pub fn seconds(duration: std::time::Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 60.0 {
        let whole = duration.as_secs();
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else if seconds >= 10.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{seconds:.2} s")
    }
}

/// A count with thousands apart: `2,012`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in decimal units: `251.3 MB`.
pub fn bytes(value: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    for (size, unit) in UNITS {
        if value >= size {
            let tenths = value * 10 / size;
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{value} B")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn figures_are_readable() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_999), "1.9 kB");
        assert_eq!(bytes(251_300_000), "251.3 MB");
        assert_eq!(seconds(Duration::from_millis(310)), "0.31 s");
        assert_eq!(seconds(Duration::from_secs(185)), "3 min 05 s");
    }
}
