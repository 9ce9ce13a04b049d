//! What must hold for any configuration file.

use crate::credentials::ini::{self, Sections, Value};
use crate::credentials::profile::ConfigFiles;

/// A configuration file: an error in one of its lines, or sections that are read as the same when
/// they are written again.
///
/// # Panics
///
/// Where that does not hold.
pub fn config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let sections = match ini::parse(&text) {
        Ok(sections) => sections,
        Err(error) => {
            assert!(error.line <= text.split(['\n', '\r']).count(), "line {}", error.line);
            return;
        }
    };
    let written = write(&sections);
    assert!(written.len() <= 4 * text.len() + 8, "more than there was");
    assert_eq!(ini::parse(&written).as_ref(), Ok(&sections), "{written:?}");
    let files = ConfigFiles::of(sections.clone(), sections);
    let texts = files.secrets().chain(files.token_files());
    assert!(texts.map(str::len).sum::<usize>() <= 2 * text.len(), "more text than there was");
}

fn write(sections: &Sections) -> String {
    let mut lines = Vec::new();
    for (name, section) in sections {
        lines.push(format!("[{name}]"));
        for (key, value) in section {
            match value {
                Value::Text(value) => {
                    lines.push(format!("{key}={}", value.replace('\n', "\n ")));
                }
                Value::Nested(pairs) => {
                    lines.push(format!("{key}="));
                    lines.extend(pairs.iter().map(|(key, value)| format!(" {key}={value}")));
                }
            }
        }
    }
    lines.join("\n")
}
