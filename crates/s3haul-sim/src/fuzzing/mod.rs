//! Entry points of the fuzz targets: what must hold for any request, weather or key.
//!
//! Each function takes what a fuzzer made and panics where a property does not hold. `fuzz/` calls
//! them under `libFuzzer`, the tests here call them with a fixed number of inputs. They are not
//! part of the interface.

mod requests;
mod scenario;
mod serve;

pub use requests::requests;
pub use scenario::scenario;
pub use serve::serve;

use crate::store::codec::{self, Names};
pub use crate::store::synthetic::fuzzing::key_formulas;

/// Keys as file names: what is encoded comes back, lies below its folder and is no other's; what
/// is no encoded key is none.
///
/// # Panics
///
/// Where that does not hold.
pub fn store_names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for names in [Names::Exact, Names::Folded] {
        let path = codec::encode(&text, names);
        check_path(&path);
        assert!(path.len() <= 4 * text.len() + 2);
        assert_eq!(codec::decode(&path).as_deref(), Some(&*text));
    }
    if let Some(path) = codec::natural_path(&text) {
        check_path(path);
    }
    if let Some(key) = codec::decode(&text) {
        let is_form = |names| codec::encode(&key, names) == text;
        assert!(is_form(Names::Exact) || is_form(Names::Folded));
    }
}

fn check_path(path: &str) {
    for component in path.split('/') {
        assert!(!matches!(component, "" | "." | ".."), "{path:?}");
        assert!(component.len() <= 220 && !component.starts_with('.'), "{path:?}");
        assert!(!component.bytes().any(|byte| byte < b' '), "{path:?}");
    }
}

#[cfg(test)]
mod tests {
    use s3haul_mutate::short_run;

    #[test]
    fn key_formulas() {
        short_run("key_formulas", super::key_formulas);
    }

    #[test]
    fn requests() {
        short_run("requests", super::requests);
    }

    #[test]
    fn scenario() {
        short_run("scenario", super::scenario);
    }

    #[test]
    fn serve() {
        short_run("serve", super::serve);
    }

    #[test]
    fn store_names() {
        short_run("store_names", super::store_names);
    }
}
