//! What must hold for any key that becomes the name of a file.

use super::write::{collapse, split_checked, temporary_name};

/// A key that is written below a folder stays there, whatever it holds.
///
/// # Panics
///
/// Where it would not.
pub fn local_names(data: &[u8]) {
    let key = String::from_utf8_lossy(data);
    let name = collapse(&key);
    assert_eq!(collapse(&name), name, "once is enough");
    assert!(name.len() <= key.len());
    let Ok((directory, last)) = split_checked(&name) else { return };
    let mut depth = 0_usize;
    for component in name.split('/') {
        assert!(!matches!(component, "" | "." | ".."), "{name:?}");
        assert!(!component.contains('\0'), "{name:?}");
        depth += 1;
    }
    assert!(depth > 0 && !name.starts_with('/'));
    let joined = if directory.is_empty() { last.to_owned() } else { format!("{directory}/{last}") };
    assert_eq!(joined, name);
    let path = std::path::Path::new("/root").join(&*name);
    let is_plain = |part| matches!(part, std::path::Component::Normal(_));
    assert!(path.components().skip(1).all(is_plain), "{name:?}");
    for random in [None, Some(0xdead_beef)] {
        let temporary = temporary_name(last, random);
        assert!(temporary.len() <= 255 && !temporary.contains('/') && temporary != "..");
    }
}
