//! Path arguments: what they name, and where names below them end up.

use crate::event::ActionKind;
use crate::location::Location;
use crate::plan::encoded_words;
use crate::plan::paths::{
    Command, LocalFacts, PathArguments, PathPlan, absolute, display_local, normalize,
    references_parent,
};
use crate::plan::preserve::Preserved;
use crate::plan::s3_uri;

const COMMANDS: [Command; 8] = [
    Command::Cp,
    Command::Mv,
    Command::Sync,
    Command::Rm,
    Command::Tag,
    Command::Set,
    Command::Restore,
    Command::Undelete,
];

/// Lines: source, target, a relative name, metadata. A name below a root is written below it.
///
/// # Panics
///
/// Where it is not.
pub fn paths(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.splitn(4, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (source, target, relative, rest) = (line(), line(), line(), line());
    [source, target].into_iter().for_each(check_uri);
    [source, target, relative].into_iter().for_each(check_local);
    for (index, command) in COMMANDS.into_iter().enumerate() {
        let is_alone = index > 2;
        for recursive in [false, true] {
            let facts = LocalFacts { exists: true, is_directory: relative.len() % 2 == 0 };
            let arguments = PathArguments {
                command,
                source,
                target: (!is_alone).then_some(target),
                recursive,
                may_meet: false,
                working_directory: "/home/me",
                source_facts: facts,
                target_facts: facts,
            };
            let Ok(plan) = PathPlan::new(&arguments) else { continue };
            check_plan(&plan, relative);
        }
    }
    let metadata = rest.lines().filter_map(|line| line.split_once('='));
    let metadata: Vec<_> =
        metadata.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let _ = Preserved::of(&metadata);
    assert!(encoded_words::decode(rest).len() <= rest.len());
}

/// Bucket and key are what was written, but for what stands between them.
fn check_uri(text: &str) {
    let Ok(name) = s3_uri::parse(text) else { return };
    let written = text.strip_prefix(s3_uri::SCHEME).unwrap_or(text);
    let between = written.len() - name.bucket.len() - name.key.len();
    assert!(written.starts_with(&name.bucket) && written.ends_with(&name.key) && between <= 1);
    let between = &written[name.bucket.len()..name.bucket.len() + between];
    assert!(matches!(between, "" | "/") || name.bucket.starts_with("arn:"), "{text:?}");
}

fn check_local(text: &str) {
    let normal = normalize(text);
    assert_eq!(normalize(&normal), normal, "once is enough");
    let path = absolute(text, "/home/me");
    assert!(path.starts_with('/') && !path.split('/').any(|part| matches!(part, "." | "..")));
    assert!(display_local(&path, "/home/me").ends_with(path.rsplit('/').next().unwrap_or("")));
    // `..` itself names no file and is refused where it would be written.
    if normalize(&format!("./{text}")) != ".." {
        assert_eq!(references_parent(text), climbs_out(text), "{text:?}");
    }
}

/// Whether a name leads out of the folder that it starts in.
fn climbs_out(name: &str) -> bool {
    let mut depth = 0_usize;
    for component in name.split('/') {
        match component {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

fn check_plan(plan: &PathPlan, relative: &str) {
    assert_eq!(plan.target.is_none(), !matches!(plan.command.name(), "cp" | "mv" | "sync"));
    let _ = (plan.single_name(), plan.is_stream());
    if plan.is_directory && plan.action == ActionKind::Download {
        let root = plan.target_directory().expect("names are added to a directory");
        let Some(Location::Local(path)) = plan.target_for(relative) else {
            panic!("a download has a local target");
        };
        let (root, path) = (root.to_string_lossy(), path.to_string_lossy());
        assert_eq!(path.strip_prefix(&*root), Some(relative));
        assert!(root.ends_with('/'));
    }
}
