//! The page of a plan: what would be done where.

use s3haul::event::ActionKind;
use s3haul::summary::{Counts, FolderTree, KindCounts, TreeFolder, TreeObject};

use super::{Colour, Folder, Metric, Scale, Tree, Unit};
use crate::render::json;

/// Folders that are kept.
const FOLDERS_MAX: usize = 100_000;
/// Gathers the folders of a plan.
pub(crate) struct PlanTree(FolderTree);

impl PlanTree {
    /// Of nothing yet.
    pub(crate) fn new() -> Self {
        Self(FolderTree::new(FOLDERS_MAX))
    }

    /// Adds an action on a file or an object.
    pub(crate) fn add(&mut self, action: ActionKind, name: &str, bytes: u64) {
        let path = name.strip_prefix("s3://").unwrap_or(name);
        let kind = ActionKind::ALL.iter().position(|known| *known == action).unwrap_or(0);
        let kind = u8::try_from(kind).unwrap_or(0);
        self.0.add(path, TreeObject { kind, bytes, billed_bytes: bytes, age_s: 0 });
    }

    /// The folders as they are shown.
    pub(crate) fn finish(mut self) -> Tree {
        let metrics = vec![
            Metric { name: "Bytes", unit: Unit::Bytes },
            Metric { name: "Objects", unit: Unit::Count },
            Metric { name: "Deletions", unit: Unit::Count },
        ];
        let labels = ActionKind::ALL.map(|action| json::action(action).to_owned()).to_vec();
        let colours = vec![Colour::new("Mostly", Scale::Kinds, labels)];
        let folders: Vec<Folder> = self.0.folders().iter().map(folder).collect();
        Tree::new("(all)", metrics, colours, &folders)
    }
}

fn folder(folder: &TreeFolder) -> Folder {
    let kinds = &folder.contents.kinds;
    let is_delete =
        |kind: &&KindCounts| ActionKind::ALL[usize::from(kind.kind)] == ActionKind::Delete;
    let deletions = kinds.iter().find(is_delete).map_or(0, |kind| kind.counts.objects);
    let most = kinds.iter().max_by_key(|kind| kind.counts.objects);
    let Counts { objects, bytes } = folder.contents.counts;
    Folder {
        path: folder.name.clone(),
        values: vec![bytes, objects, deletions],
        colours: vec![most.map_or(0, |kind| kind.kind)],
        is_at_least: folder.missing_max != Counts::default(),
    }
}
