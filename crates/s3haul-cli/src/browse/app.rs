//! What is on the screen, and what keys and answers make of it. Pure: what has to be asked of the
//! service is returned as an [`Ask`].

mod list;
mod over;

use super::action::{Action, Step};
use super::marks::Marks;
use super::panes::{
    Listed, Outcome, Pane, PlanPane, Planned, Preview, PreviewPane, RunPane, VersionRow,
    VersionsPane,
};
use super::rows::{Column, Row, Sort, matches};
use super::tree::{Figures, Listing, Tree};
use crate::terminal::Key;

/// Where it was listed.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The bucket; none where a saved listing is shown, about which nothing can be done.
    pub(crate) bucket: Option<String>,
    /// What is shown before paths.
    pub(crate) label: String,
    /// What makes an address of a key.
    pub(crate) address: String,
}

/// What the screen asks of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Restore the terminal and leave.
    Leave,
    /// List all anew.
    List,
    /// List a folder, from its beginning or where an answer said that more begins.
    Open { path: String, from: Option<String> },
    /// Look at an object.
    Preview { key: String, version_id: Option<String> },
    /// Tags of an object.
    Tags { key: String, version_id: Option<String> },
    /// Versions of a key, or of all keys of a folder.
    Versions { path: String, is_folder: bool },
    /// Make plans of commands.
    Plan(Vec<Step>),
    /// Do the plans that were made last.
    Apply,
    /// End what runs.
    Cancel,
    /// Copy a text; true where it is a command that needs its files later.
    Copy(String, bool),
}

/// What became of it.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Rows of a folder.
    Opened { path: String, listed: Result<Listed<Row>, String> },
    /// An object.
    Preview { key: String, preview: Result<Preview, String> },
    /// Tags of an object.
    Tags { key: String, tags: Result<Vec<(String, String)>, String> },
    /// Versions.
    Versions { path: String, listed: Result<Listed<VersionRow>, String> },
    /// Plans.
    Planned(Result<Planned, String>),
    /// So many more objects of a plan have ended.
    Ended(u64),
    /// Plans were done.
    Applied(Outcome),
    /// Something to be said.
    Said(String),
}

/// A folder that was listed by itself.
#[derive(Debug)]
struct Opened {
    path: String,
    rows: Vec<Row>,
    next: Option<String>,
    is_loading: bool,
    /// Rows that are not the first ones are shown.
    is_later: bool,
}

/// The whole state of the screen.
#[derive(Debug)]
pub(crate) struct App {
    pub(super) place: Place,
    /// The topmost folder.
    root: String,
    /// Path of the folder that is shown.
    pub(super) path: String,
    pub(super) figures: Figures,
    pub(super) totals: Figures,
    pub(super) listing: Listing,
    rows: Vec<Row>,
    /// Places of the rows that are shown.
    shown: Vec<u32>,
    pub(super) cursor: usize,
    /// Rows above the screen.
    pub(super) scrolled: usize,
    /// Rows on the screen.
    pub(super) page: usize,
    pub(super) sort: Sort,
    pub(super) filter: String,
    pub(super) is_filtering: bool,
    pub(super) marks: Marks,
    opened: Option<Opened>,
    pub(super) pane: Pane,
    /// Lines of the help above the screen; none where it is not shown.
    pub(super) help: Option<usize>,
    /// The last message.
    pub(super) status: String,
    /// Rows have to be made anew.
    is_stale: bool,
    /// Names to put the cursor on, once there are rows.
    wanted: Option<String>,
}

impl App {
    /// The topmost folder of a listing.
    pub(crate) fn new(place: Place, tree: &Tree) -> Self {
        Self {
            place,
            root: tree.root().to_owned(),
            path: tree.root().to_owned(),
            figures: Figures::default(),
            totals: Figures::default(),
            listing: Listing::Running,
            rows: Vec::new(),
            shown: Vec::new(),
            cursor: 0,
            scrolled: 0,
            page: 1,
            sort: Sort::by(Column::Size),
            filter: String::new(),
            is_filtering: false,
            marks: Marks::default(),
            opened: None,
            pane: Pane::None,
            help: None,
            status: String::new(),
            is_stale: true,
            wanted: None,
        }
    }

    /// Takes over what was listed since, if that is due or has to be. Returns what has to be listed
    /// by itself.
    pub(crate) fn refresh(&mut self, tree: &Tree, is_due: bool) -> Option<Ask> {
        if !is_due && !self.is_stale {
            return None;
        }
        self.totals = tree.totals();
        self.listing.clone_from(&tree.listing);
        let figures = tree.figures(&self.path).unwrap_or_default();
        if !self.is_stale && figures == self.figures {
            return None;
        }
        self.figures = figures;
        self.is_stale = false;
        let found = tree.rows(&self.path);
        let is_whole = found.as_ref().is_some_and(|found| !found.is_folded);
        let rows = found.map_or_else(Vec::new, |found| found.rows);
        let ask = if is_whole {
            self.opened = None;
            None
        } else {
            self.open()
        };
        let rows = match &self.opened {
            Some(opened) => with_figures(&opened.rows, &rows),
            None => rows,
        };
        self.take_rows(rows);
        ask
    }

    /// Asks for the rows of a folded folder, once.
    fn open(&mut self) -> Option<Ask> {
        if self.opened.as_ref().is_some_and(|opened| opened.path == self.path) {
            return None;
        }
        self.opened = Some(Opened {
            path: self.path.clone(),
            rows: Vec::new(),
            next: None,
            is_loading: true,
            is_later: false,
        });
        Some(Ask::Open { path: self.path.clone(), from: None })
    }

    fn take_rows(&mut self, mut rows: Vec<Row>) {
        let under = self.row().filter(|_| self.cursor > 0);
        let under = under.map(|row| (row.name.clone(), row.is_folder));
        self.sort.apply(&mut rows);
        self.rows = rows;
        self.choose_shown();
        let place = |is: &dyn Fn(&Row) -> bool| self.shown_rows().position(is);
        let wanted = self.wanted.as_deref();
        let found = match (wanted, &under) {
            (Some(wanted), _) => place(&|row| row.is_folder && *row.name == *wanted),
            (None, Some((name, is_folder))) => {
                place(&|row| row.is_folder == *is_folder && row.name == *name)
            }
            (None, None) => None,
        };
        if let Some(found) = found {
            self.cursor = found;
            self.wanted = None;
        }
        self.cursor = self.cursor.min(self.shown.len().saturating_sub(1));
    }

    fn choose_shown(&mut self) {
        let filter = &self.filter;
        let places = self.rows.iter().enumerate().filter(|(_, row)| matches(&row.name, filter));
        self.shown = places.filter_map(|(at, _)| u32::try_from(at).ok()).collect();
        self.cursor = self.cursor.min(self.shown.len().saturating_sub(1));
    }

    /// Rows that are shown, in their order.
    pub(super) fn shown_rows(&self) -> impl ExactSizeIterator<Item = &Row> {
        self.shown.iter().map(|at| &self.rows[*at as usize])
    }

    /// Whether the topmost folder is shown.
    pub(super) fn is_at_top(&self) -> bool {
        self.path == self.root
    }

    /// Number of all rows.
    pub(super) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The row under the cursor.
    pub(super) fn row(&self) -> Option<&Row> {
        self.shown.get(self.cursor).and_then(|at| self.rows.get(*at as usize))
    }

    /// Bytes that bars are a share of: those of the largest row.
    pub(super) fn largest(&self) -> u64 {
        self.rows.iter().filter_map(|row| row.size).max().unwrap_or(0)
    }

    /// What is special about how this folder is shown.
    pub(super) fn opened_note(&self) -> Option<&'static str> {
        let opened = self.opened.as_ref()?;
        Some(match (opened.is_loading, opened.next.is_some(), opened.is_later) {
            (true, ..) => "listing this folder",
            (false, true, _) => "not all of this folder: n shows the next rows",
            (false, false, true) => "the last rows of this folder",
            (false, false, false) => return None,
        })
    }

    /// Address of a key or of what keys begin with.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.place.address)
    }

    /// What a key does.
    pub(crate) fn press(&mut self, key: Key) -> Option<Ask> {
        self.status.clear();
        if let Some(scrolled) = self.help {
            // The screen ends it where the lines end.
            self.help = key.moved(scrolled, usize::MAX, self.page);
            return (key == Key::Interrupt).then_some(Ask::Leave);
        }
        match std::mem::take(&mut self.pane) {
            Pane::None => self.press_list(key),
            pane => self.press_pane(pane, key),
        }
    }

    /// What an answer changes. One that comes too late changes nothing.
    pub(crate) fn take(&mut self, answer: Answer) {
        match (answer, &mut self.pane) {
            (Answer::Opened { path, listed }, _) => self.take_opened(&path, listed),
            (Answer::Preview { key, preview }, Pane::Preview(pane)) if pane.key == key => {
                pane.preview = Some(preview);
            }
            (Answer::Tags { key, tags }, Pane::Preview(pane)) if pane.key == key => {
                pane.tags = Some(tags);
            }
            (Answer::Versions { path, listed }, Pane::Versions(pane)) if pane.path == path => {
                pane.listed = Some(listed);
            }
            (Answer::Planned(planned), Pane::Planning(_)) => self.take_planned(planned),
            (Answer::Ended(count), Pane::Running(pane)) => pane.ended += count,
            (Answer::Applied(outcome), Pane::Running(pane)) => {
                // A mark that stays may be of what is gone: the next plan would have what comes
                // under its name, which is not on the screen.
                self.marks.clear();
                pane.outcome = Some(outcome);
                // What was listed by itself may show what is gone.
                (self.opened, self.is_stale) = (None, true);
            }
            (Answer::Said(text), _) => self.status = text,
            _ => {}
        }
    }

    fn take_opened(&mut self, path: &str, listed: Result<Listed<Row>, String>) {
        let Some(opened) = self.opened.as_mut().filter(|opened| opened.path == path) else {
            return;
        };
        opened.is_loading = false;
        match listed {
            Ok(listed) => {
                opened.rows = listed.rows;
                opened.next = listed.next;
            }
            Err(error) => self.status = error,
        }
        self.is_stale = true;
    }

    fn take_planned(&mut self, planned: Result<Planned, String>) {
        let Pane::Planning(action) = std::mem::take(&mut self.pane) else { return };
        match planned {
            Ok(planned) => {
                let (typed, scrolled) = (String::new(), 0);
                self.pane = Pane::Plan(PlanPane { action, planned, typed, scrolled });
            }
            Err(error) => self.status = error,
        }
    }

    /// Begins a new listing.
    fn list_anew(&mut self) -> Ask {
        (self.opened, self.is_stale) = (None, true);
        Ask::List
    }

    /// Plans an action about what is marked, or else about the row under the cursor.
    fn plan(&mut self, action: Action) -> Option<Ask> {
        let mut targets = self.marks.targets();
        if self.marks.is_empty() {
            let path = self.row().map(|row| (row.path(&self.path), row.is_folder));
            match path {
                Some((path, true)) => targets.folders.push(path),
                Some((path, false)) => targets.objects.push(path),
                None => return None,
            }
        }
        self.plan_steps(action, &targets)
    }

    fn plan_steps(&mut self, action: Action, targets: &super::marks::Targets) -> Option<Ask> {
        let Some(bucket) = &self.place.bucket else {
            NEEDS_SERVICE.clone_into(&mut self.status);
            return None;
        };
        match action.steps(bucket, targets) {
            Ok(steps) => {
                self.pane = Pane::Planning(action);
                Some(Ask::Plan(steps))
            }
            Err(error) => {
                self.status = error;
                None
            }
        }
    }
}

/// Said where a saved listing is not enough.
const NEEDS_SERVICE: &str = "this is a saved listing: browse its s3:// address to do that";

/// Rows of a folder that was listed by itself, with the figures of what the tree has.
fn with_figures(listed: &[Row], known: &[Row]) -> Vec<Row> {
    let folders: std::collections::BTreeMap<&str, &Row> =
        known.iter().filter(|row| row.is_folder).map(|row| (&*row.name, row)).collect();
    let figures = |row: &Row| {
        let known = folders.get(&*row.name).filter(|_| row.is_folder);
        known.map_or_else(|| row.clone(), |known| (*known).clone())
    };
    listed.iter().map(figures).collect()
}

#[cfg(test)]
#[path = "app_tests.rs"]
mod tests;
