//! What must hold for any file that is given as a report of an earlier run.

use s3haul::job::NameSource as _;

use super::Sides;
use super::reader::FailedNames;

/// A report in both forms: an error or names, no more than there are lines.
///
/// # Panics
///
/// Where there are more.
pub fn report(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let sides = Sides { command: "cp".into(), source: "s3://a".into(), target: "s3://b/p/".into() };
    let lines = data.split(|byte| *byte == b'\n').count();
    for name in ["r.csv", "r.jsonl"] {
        let path = folder.path().join(name);
        std::fs::write(&path, data).expect("a file can be written");
        let Ok(report) = FailedNames::open(&path, &sides) else { continue };
        let Ok(names) = report.names() else { continue };
        let mut count = 0;
        for name in names {
            count += 1;
            if name.is_err() {
                break;
            }
        }
        assert!(count <= lines, "{count} names out of {lines} lines");
        let _ = report.is_complete();
    }
}
