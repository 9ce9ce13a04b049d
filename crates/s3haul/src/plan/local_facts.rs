//! What conditions and scripts see of a local file.

use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use crate::fs::LocalFile;
use crate::plan::conditions::ObjectFacts;
use s3haul_wire::ops::ListedObject;

/// What conditions are asked about a file.
pub(crate) fn facts_of_file(file: &LocalFile) -> ObjectFacts<'static> {
    facts_of_content(file.size, file.modified)
}

/// The same of size and time alone. Times of objects are whole seconds, which is no difference to
/// conditions, whose moments are.
pub(crate) fn facts_of_content(size: u64, modified: SystemTime) -> ObjectFacts<'static> {
    let whole = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    let modified_s = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => whole(after),
        Err(before) => {
            let before = before.duration();
            -whole(before) - i64::from(before.subsec_nanos() > 0)
        }
    };
    ObjectFacts { size: Some(size), modified_s, storage_class: None }
}

/// What scripts see of a file.
pub(crate) fn as_object(file: &LocalFile) -> ListedObject<'_> {
    let since = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    ListedObject {
        key: &file.relative,
        size: file.size,
        last_modified_s: i64::try_from(since.as_secs()).unwrap_or_default(),
        ..ListedObject::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_down_also_before_1970() {
        let half = Duration::from_millis(1500);
        let seconds = |time| facts_of_content(0, time).modified_s;
        assert_eq!(seconds(UNIX_EPOCH + half), 1);
        assert_eq!(seconds(UNIX_EPOCH - half), -2);
        assert_eq!(seconds(UNIX_EPOCH - Duration::from_secs(2)), -2);
    }
}
