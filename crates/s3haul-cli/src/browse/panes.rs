//! What is shown over the rows of a folder: previews, versions, questions, plans. Pure.

use super::action::Action;
use crate::terminal::Key;

/// Longest text that is typed.
const TYPED_MAX: usize = 1024;

/// What is over the rows.
#[derive(Debug, Default)]
pub(crate) enum Pane {
    /// Nothing.
    #[default]
    None,
    /// An object.
    Preview(PreviewPane),
    /// Versions of an object, or of what is in a folder.
    Versions(VersionsPane),
    /// What an action needs to know.
    Prompt(Prompt),
    /// A plan is being made.
    Planning(Action),
    /// A plan, to be confirmed.
    Plan(PlanPane),
    /// A plan is being done.
    Running(RunPane),
}

/// What is known of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preview {
    /// Names and values.
    pub(crate) fields: Vec<(String, String)>,
    /// Lines of its beginning.
    pub(crate) content: Vec<String>,
}

/// A preview, as far as it is there.
#[derive(Debug, Default)]
pub(crate) struct PreviewPane {
    pub(crate) key: String,
    pub(crate) version_id: Option<String>,
    /// What the service said, or why it did not.
    pub(crate) preview: Option<Result<Preview, String>>,
    /// Tags, once they are asked for.
    pub(crate) tags: Option<Result<Vec<(String, String)>, String>>,
    /// Lines above the screen.
    pub(crate) scrolled: usize,
}

/// A version or delete marker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VersionRow {
    pub(crate) key: String,
    pub(crate) version_id: String,
    pub(crate) is_latest: bool,
    pub(crate) is_delete_marker: bool,
    pub(crate) size: u64,
    pub(crate) modified_s: i64,
    pub(crate) class: String,
}

/// What was listed, and whether that is all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed<T> {
    /// Rows.
    pub(crate) rows: Vec<T>,
    /// Where the next ones begin, where there are more.
    pub(crate) next: Option<String>,
}

/// Versions, as far as they are there.
#[derive(Debug, Default)]
pub(crate) struct VersionsPane {
    /// A key, or a folder's path.
    pub(crate) path: String,
    pub(crate) listed: Option<Result<Listed<VersionRow>, String>>,
    pub(crate) cursor: usize,
}

impl VersionsPane {
    /// The row under the cursor.
    pub(crate) fn row(&self) -> Option<&VersionRow> {
        self.rows().get(self.cursor)
    }

    /// All rows.
    pub(crate) fn rows(&self) -> &[VersionRow] {
        self.listed.as_ref().and_then(|listed| listed.as_ref().ok()).map_or(&[], |all| &all.rows)
    }
}

/// What is typed for an action.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) kind: PromptKind,
    pub(crate) typed: String,
}

/// What an action needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptKind {
    Tags,
    Class,
    Days,
    Folder,
}

impl Prompt {
    pub(crate) fn new(kind: PromptKind) -> Self {
        let typed = if kind == PromptKind::Folder { "." } else { "" };
        Self { kind, typed: typed.to_owned() }
    }

    /// The question, for people.
    pub(crate) fn question(&self) -> &'static str {
        match self.kind {
            PromptKind::Tags => "tags to add (KEY=VALUE,...) or to remove (-KEY,...)",
            PromptKind::Class => "storage class, such as STANDARD_IA",
            PromptKind::Days => "restore for how many days",
            PromptKind::Folder => "download to which folder",
        }
    }

    /// The action, if what was typed is enough for one.
    pub(crate) fn action(&self) -> Option<Action> {
        let typed = self.typed.trim();
        if typed.is_empty() {
            return None;
        }
        let own = typed.to_owned();
        Some(match (self.kind, typed.strip_prefix('-')) {
            (PromptKind::Tags, Some(keys)) => Action::Untag(keys.to_owned()),
            (PromptKind::Tags, None) => Action::Tag(own),
            (PromptKind::Class, _) => Action::Class(typed.to_ascii_uppercase()),
            (PromptKind::Days, _) => Action::Restore(own),
            (PromptKind::Folder, _) => Action::Download(own),
        })
    }
}

/// Changes what is typed; false where the key is none for that.
pub(crate) fn edit(typed: &mut String, key: Key) -> bool {
    match key {
        Key::Character(character) if typed.len() < TYPED_MAX => typed.push(character),
        Key::Backspace => drop(typed.pop()),
        _ => return false,
    }
    true
}

/// What an action comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Planned {
    /// The commands that do the same.
    pub(crate) commands: Vec<String>,
    /// The sum, for people.
    pub(crate) lines: Vec<String>,
    /// Objects and versions that something is done about.
    pub(crate) actions: u64,
}

/// A plan and what is typed to confirm it.
#[derive(Debug)]
pub(crate) struct PlanPane {
    pub(crate) action: Action,
    pub(crate) planned: Planned,
    pub(crate) typed: String,
    pub(crate) scrolled: usize,
}

impl PlanPane {
    /// What has to be typed: `yes`, and where something is removed, how many.
    pub(crate) fn word(&self) -> String {
        if self.action.is_removal() { self.planned.actions.to_string() } else { "yes".to_owned() }
    }

    /// Whether it was typed. Nothing confirms a plan of nothing.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.planned.actions > 0 && self.typed.trim() == self.word()
    }
}

/// What became of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Objects done.
    pub(crate) done: u64,
    /// Objects that failed or were not tried.
    pub(crate) failed: u64,
    /// What was said of failures and warnings.
    pub(crate) messages: Vec<String>,
}

/// A plan that is being done, or was.
#[derive(Debug)]
pub(crate) struct RunPane {
    pub(crate) action: Action,
    /// Objects of the plan, and how many of them have ended.
    pub(crate) actions: u64,
    pub(crate) ended: u64,
    pub(crate) is_cancelled: bool,
    /// Set at the end.
    pub(crate) outcome: Option<Outcome>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_number_confirms_a_removal() {
        let pane = |action, actions, typed: &str| PlanPane {
            action,
            planned: Planned { actions, ..Planned::default() },
            typed: typed.to_owned(),
            scrolled: 0,
        };
        assert!(pane(Action::Delete, 12, " 12").is_confirmed());
        for typed in ["", "yes", "y", "1", "120", "12 3"] {
            assert!(!pane(Action::Delete, 12, typed).is_confirmed(), "{typed}");
            assert!(!pane(Action::DeleteVersions, 12, typed).is_confirmed(), "{typed}");
        }
        assert!(pane(Action::Undelete, 12, "yes").is_confirmed());
        assert!(!pane(Action::Undelete, 0, "yes").is_confirmed(), "there is nothing to do");
        assert!(!pane(Action::Delete, 0, "0").is_confirmed());
    }

    #[test]
    fn prompts_become_actions() {
        let action = |kind, typed: &str| Prompt { kind, typed: typed.to_owned() }.action();
        assert_eq!(action(PromptKind::Tags, "a=b"), Some(Action::Tag("a=b".to_owned())));
        assert_eq!(action(PromptKind::Tags, "-a,b"), Some(Action::Untag("a,b".to_owned())));
        assert_eq!(action(PromptKind::Class, "glacier"), Some(Action::Class("GLACIER".to_owned())));
        assert_eq!(action(PromptKind::Days, " "), None);
        assert_eq!(
            Prompt::new(PromptKind::Folder).action(),
            Some(Action::Download(".".to_owned()))
        );
    }

    #[test]
    fn what_is_typed_is_bounded() {
        let mut typed = "x".repeat(TYPED_MAX - 1);
        assert!(edit(&mut typed, Key::Character('y')) && !edit(&mut typed, Key::Character('z')));
        assert!(edit(&mut typed, Key::Backspace) && typed.len() == TYPED_MAX - 1);
        assert!(!edit(&mut typed, Key::Up));
    }
}
