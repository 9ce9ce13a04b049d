//! Keys among the rows of a folder.

use super::{App, Ask, NEEDS_SERVICE, Pane, PreviewPane, VersionsPane};
use crate::browse::action::Action;
use crate::browse::marks::MARKS_MAX;
use crate::browse::panes::{Prompt, PromptKind, edit};
use crate::browse::rows::{Column, Sort};
use crate::terminal::Key;
use crate::terminal::safe;

impl App {
    pub(super) fn press_list(&mut self, key: Key) -> Option<Ask> {
        if self.is_filtering {
            return self.press_filter(key);
        }
        if let Some(cursor) = key.moved(self.cursor, self.shown.len(), self.page) {
            (self.cursor, self.wanted) = (cursor, None);
            return None;
        }
        match key {
            Key::Enter | Key::Right | Key::Character('l') => self.enter(),
            Key::Left | Key::Backspace | Key::Character('h') => {
                self.go_up();
                None
            }
            Key::Escape => self.escape(),
            Key::Interrupt | Key::Character('q') => Some(Ask::Leave),
            Key::Character(character) => self.press_character(character),
            _ => None,
        }
    }

    fn press_character(&mut self, character: char) -> Option<Ask> {
        match character {
            '/' => self.is_filtering = true,
            '?' => self.help = Some(0),
            's' => self.sort_by(Sort::by(self.sort.column.next())),
            'S' => self.sort_by(self.sort.toggled(self.sort.column)),
            '1'..='5' => {
                let column = Column::ALL[character as usize - '1' as usize];
                self.sort_by(self.sort.toggled(column));
            }
            ' ' | 'a' | 'i' => self.mark(character),
            'y' => return self.copy_address(),
            'L' => return Some(self.list_anew()),
            'n' => return self.open_next(),
            'v' => return self.show_versions(),
            'd' => return self.plan(Action::Delete),
            't' => self.prompt(PromptKind::Tags),
            'c' => self.prompt(PromptKind::Class),
            'r' => self.prompt(PromptKind::Days),
            'g' => self.prompt(PromptKind::Folder),
            _ => {}
        }
        None
    }

    fn press_filter(&mut self, key: Key) -> Option<Ask> {
        match key {
            Key::Interrupt => return Some(Ask::Leave),
            Key::Escape => {
                self.filter.clear();
                self.is_filtering = false;
            }
            Key::Enter => self.is_filtering = false,
            Key::Up | Key::Down | Key::PageUp | Key::PageDown => {
                self.cursor =
                    key.moved(self.cursor, self.shown.len(), self.page).unwrap_or(self.cursor);
                return None;
            }
            key => drop(edit(&mut self.filter, key)),
        }
        self.choose_shown();
        None
    }

    fn sort_by(&mut self, sort: Sort) {
        self.sort = sort;
        let rows = std::mem::take(&mut self.rows);
        self.cursor = 0;
        self.take_rows(rows);
    }

    /// Ends the filter, then takes marks off, then leaves.
    fn escape(&mut self) -> Option<Ask> {
        if !self.filter.is_empty() {
            self.filter.clear();
            self.choose_shown();
        } else if self.marks.is_empty() {
            return Some(Ask::Leave);
        } else {
            self.marks.clear();
        }
        None
    }

    fn enter(&mut self) -> Option<Ask> {
        let row = self.row()?;
        let path = row.path(&self.path);
        if row.is_folder {
            self.go_to(path);
            return None;
        }
        if self.place.bucket.is_none() {
            NEEDS_SERVICE.clone_into(&mut self.status);
            return None;
        }
        let key = path.clone();
        self.pane = Pane::Preview(PreviewPane { key, ..PreviewPane::default() });
        Some(Ask::Preview { key: path, version_id: None })
    }

    fn go_to(&mut self, path: String) {
        self.path = path;
        self.filter.clear();
        (self.opened, self.wanted, self.is_stale) = (None, None, true);
        (self.cursor, self.scrolled) = (0, 0);
        (self.rows, self.shown) = (Vec::new(), Vec::new());
    }

    /// Goes to the folder above, and there to the one that was left.
    fn go_up(&mut self) {
        if self.path.len() <= self.root.len() {
            return;
        }
        let inner = &self.path[..self.path.len() - 1];
        let (above, name) = inner.split_at(inner.rfind('/').map_or(0, |slash| slash + 1));
        let (above, name) = (above.to_owned(), name.to_owned());
        self.go_to(above);
        self.wanted = Some(name);
    }

    fn mark(&mut self, character: char) {
        let rows = self.shown.iter().map(|at| &self.rows[*at as usize]);
        let is_done = match character {
            'a' => self.marks.mark(&self.path, rows),
            'i' => self.marks.invert(&self.path, rows),
            _ => self.toggle(),
        };
        if !is_done {
            self.status = if self.marks.len() >= MARKS_MAX {
                format!("no more than {MARKS_MAX} marks: mark the folder")
            } else {
                "a folder above is marked".to_owned()
            };
        }
    }

    /// Marks the row under the cursor and goes to the next.
    fn toggle(&mut self) -> bool {
        let Some(at) = self.shown.get(self.cursor) else { return true };
        let is_done = self.marks.toggle(&self.path, &self.rows[*at as usize]);
        self.cursor = (self.cursor + 1).min(self.shown.len().saturating_sub(1));
        is_done
    }

    fn copy_address(&mut self) -> Option<Ask> {
        let path = self.row().map_or_else(|| self.path.clone(), |row| row.path(&self.path));
        self.copied(&path)
    }

    /// Copies an address, if nothing in it could be obeyed where it is inserted.
    pub(super) fn copied(&mut self, path: &str) -> Option<Ask> {
        let address = self.address(path);
        if safe(&address) == address {
            return Some(Ask::Copy(address, false));
        }
        "it has control characters and was not copied".clone_into(&mut self.status);
        None
    }

    fn open_next(&mut self) -> Option<Ask> {
        let opened = self.opened.as_mut()?;
        let from = opened.next.take();
        opened.is_loading = true;
        // Behind the last rows come the first.
        opened.is_later = from.is_some();
        (self.cursor, self.scrolled) = (0, 0);
        Some(Ask::Open { path: self.path.clone(), from })
    }

    fn show_versions(&mut self) -> Option<Ask> {
        if self.place.bucket.is_none() {
            NEEDS_SERVICE.clone_into(&mut self.status);
            return None;
        }
        // Of an empty folder, too: that is where removed objects were.
        let (path, is_folder) = self
            .row()
            .map_or_else(|| (self.path.clone(), true), |row| (row.path(&self.path), row.is_folder));
        self.pane = Pane::Versions(VersionsPane { path: path.clone(), ..VersionsPane::default() });
        Some(Ask::Versions { path, is_folder })
    }

    fn prompt(&mut self, kind: PromptKind) {
        if self.place.bucket.is_none() {
            NEEDS_SERVICE.clone_into(&mut self.status);
        } else if self.row().is_some() || !self.marks.is_empty() {
            self.pane = Pane::Prompt(Prompt::new(kind));
        }
    }
}
