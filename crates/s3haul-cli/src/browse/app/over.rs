//! Keys in what is over the rows: previews, versions, questions, plans.

use super::{App, Ask, Pane, PlanPane, PreviewPane, RunPane, VersionsPane};
use crate::browse::action::Action;
use crate::browse::marks::Targets;
use crate::browse::panes::{Prompt, edit};
use crate::terminal::Key;

impl App {
    /// What a key does in a pane; what the pane is afterwards is put back.
    pub(super) fn press_pane(&mut self, pane: Pane, key: Key) -> Option<Ask> {
        match pane {
            Pane::None => None,
            Pane::Preview(pane) => self.press_preview(pane, key),
            Pane::Versions(pane) => self.press_versions(pane, key),
            Pane::Prompt(prompt) => self.press_prompt(prompt, key),
            Pane::Planning(action) => match key {
                Key::Escape | Key::Interrupt | Key::Character('q') => Some(Ask::Cancel),
                _ => self.stay(Pane::Planning(action)),
            },
            Pane::Plan(pane) => self.press_plan(pane, key),
            Pane::Running(pane) => self.press_running(pane, key),
        }
    }

    fn stay(&mut self, pane: Pane) -> Option<Ask> {
        self.pane = pane;
        None
    }

    fn press_preview(&mut self, mut pane: PreviewPane, key: Key) -> Option<Ask> {
        let (path, version_id) = (pane.key.clone(), pane.version_id.clone());
        let mut ask = None;
        match key {
            Key::Interrupt => return Some(Ask::Leave),
            Key::Escape | Key::Left | Key::Backspace | Key::Character('q' | 'h') => return None,
            Key::Character('T') => ask = Some(Ask::Tags { key: path, version_id }),
            Key::Character('y') => ask = self.copied(&path),
            key => {
                // The screen ends it where the lines end.
                if let Some(scrolled) = key.moved(pane.scrolled, usize::MAX, self.page) {
                    pane.scrolled = scrolled;
                }
            }
        }
        self.pane = Pane::Preview(pane);
        ask
    }

    fn press_versions(&mut self, mut pane: VersionsPane, key: Key) -> Option<Ask> {
        if let Some(cursor) = key.moved(pane.cursor, pane.rows().len(), self.page) {
            pane.cursor = cursor;
            return self.stay(Pane::Versions(pane));
        }
        let row = pane.row().cloned();
        match (key, row) {
            (Key::Interrupt, _) => Some(Ask::Leave),
            (Key::Escape | Key::Left | Key::Backspace | Key::Character('q' | 'h' | 'v'), _) => None,
            (Key::Enter | Key::Right, Some(row)) if !row.is_delete_marker => {
                let version_id = Some(row.version_id);
                let (key, pane) = (row.key.clone(), PreviewPane::default());
                self.pane = Pane::Preview(PreviewPane {
                    key: row.key,
                    version_id: version_id.clone(),
                    ..pane
                });
                Some(Ask::Preview { key, version_id })
            }
            (Key::Character('y'), Some(row)) => {
                self.pane = Pane::Versions(pane);
                self.copied(&row.key)
            }
            (Key::Character(character @ ('u' | 'D')), Some(row)) => {
                let is_undelete = character == 'u';
                let action = if is_undelete { Action::Undelete } else { Action::DeleteVersions };
                let targets = Targets { objects: vec![row.key], ..Targets::default() };
                self.plan_steps(action, &targets)
            }
            _ => self.stay(Pane::Versions(pane)),
        }
    }

    fn press_prompt(&mut self, mut prompt: Prompt, key: Key) -> Option<Ask> {
        match key {
            Key::Escape | Key::Interrupt => return None,
            Key::Enter => {
                if let Some(action) = prompt.action() {
                    return self.plan(action);
                }
            }
            key => drop(edit(&mut prompt.typed, key)),
        }
        self.stay(Pane::Prompt(prompt))
    }

    fn press_plan(&mut self, mut pane: PlanPane, key: Key) -> Option<Ask> {
        match key {
            Key::Escape | Key::Interrupt => {
                "nothing was done".clone_into(&mut self.status);
                return None;
            }
            Key::Enter if pane.is_confirmed() => {
                let (action, actions) = (pane.action, pane.planned.actions);
                self.pane = Pane::Running(RunPane {
                    action,
                    actions,
                    ended: 0,
                    is_cancelled: false,
                    outcome: None,
                });
                return Some(Ask::Apply);
            }
            Key::Enter if pane.planned.actions == 0 => return None,
            Key::Enter => self.status = format!("nothing is done before you type {}", pane.word()),
            Key::Up | Key::Down | Key::PageUp | Key::PageDown => {
                let moved = key.moved(pane.scrolled, usize::MAX, self.page);
                pane.scrolled = moved.unwrap_or(pane.scrolled);
            }
            Key::Character('Y') => {
                let commands = pane.planned.commands.join("\n");
                self.pane = Pane::Plan(pane);
                return Some(Ask::Copy(commands, true));
            }
            key => drop(edit(&mut pane.typed, key)),
        }
        self.stay(Pane::Plan(pane))
    }

    fn press_running(&mut self, mut pane: RunPane, key: Key) -> Option<Ask> {
        if pane.outcome.is_some() {
            return match key {
                Key::Interrupt => Some(Ask::Leave),
                Key::Enter | Key::Escape | Key::Character('q') => None,
                _ => self.stay(Pane::Running(pane)),
            };
        }
        let ends = matches!(key, Key::Escape | Key::Interrupt);
        pane.is_cancelled |= ends;
        self.pane = Pane::Running(pane);
        ends.then_some(Ask::Cancel)
    }
}
