//! Keys out of formulas, for the fuzz targets.

use super::KeySource as _;
use super::formula::parse_spec;

/// A formula: refused, or keys in ascending order that are found where they are.
///
/// # Panics
///
/// Where they are not.
pub fn key_formulas(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some((formula, _)) = parse_spec(&text, 1) else { return };
    let end = formula.seek(&[0xff; 9], true);
    for start in [0, end / 2, end.saturating_sub(10)] {
        let mut last = String::new();
        let mut position = start;
        for _ in 0..20 {
            let mut buffer = String::new();
            let Some(read) = formula.read(position, &mut buffer) else { break };
            assert!(last.as_str() < read.key, "{last} before {}", read.key);
            assert_eq!(formula.seek(read.key.as_bytes(), false), position);
            (position, last) = (read.next, read.key.to_owned());
        }
    }
    assert_eq!(formula.seek(b"", false), 0);
}
