//! The rows of a folder: their order, and which of them are shown. Pure.

use std::cmp::Ordering;
use std::sync::Arc;

/// A folder or an object in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// What follows the folder's path, without the last slash of a folder.
    pub(crate) name: Box<str>,
    /// Whether it is a folder.
    pub(crate) is_folder: bool,
    /// Bytes; none where they are not known.
    pub(crate) size: Option<u64>,
    /// Objects below a folder, where they are known.
    pub(crate) objects: Option<u64>,
    /// Last modification in seconds since 1970; of a folder that of its newest object.
    pub(crate) modified_s: Option<i64>,
    /// Storage class; of a folder the first and how many others.
    pub(crate) class: Arc<str>,
}

impl Row {
    /// A folder of which only the name is known.
    pub(crate) fn unknown_folder(name: &str) -> Self {
        Self {
            name: name.into(),
            is_folder: true,
            size: None,
            objects: None,
            modified_s: None,
            class: "".into(),
        }
    }

    /// Its key, or for a folder what the keys below it begin with.
    pub(crate) fn path(&self, folder: &str) -> String {
        let end = if self.is_folder { "/" } else { "" };
        format!("{folder}{}{end}", self.name)
    }
}

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Name,
    Size,
    Objects,
    Modified,
    Class,
}

impl Column {
    /// All, in the order of the screen.
    pub(crate) const ALL: [Self; 5] =
        [Self::Name, Self::Size, Self::Objects, Self::Modified, Self::Class];

    /// The next one.
    pub(crate) fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// The order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sort {
    pub(crate) column: Column,
    pub(crate) is_descending: bool,
}

impl Sort {
    /// By a column, as one wants it most of the time: names from the first, figures from the
    /// largest.
    pub(crate) fn by(column: Column) -> Self {
        let is_descending = !matches!(column, Column::Name | Column::Class);
        Self { column, is_descending }
    }

    /// By a column, the other way round where it is that already.
    pub(crate) fn toggled(self, column: Column) -> Self {
        if self.column == column {
            Self { is_descending: !self.is_descending, ..self }
        } else {
            Self::by(column)
        }
    }

    /// Sorts rows. By name folders come before objects, and what is not known always comes last.
    pub(crate) fn apply(self, rows: &mut [Row]) {
        rows.sort_unstable_by(|a, b| self.compare(a, b));
    }

    fn compare(self, a: &Row, b: &Row) -> Ordering {
        let names = || a.name.cmp(&b.name).then(b.is_folder.cmp(&a.is_folder));
        let turned = |order: Ordering| if self.is_descending { order.reverse() } else { order };
        match self.column {
            Column::Name => b.is_folder.cmp(&a.is_folder).then_with(|| turned(names())),
            Column::Size => self.known_first(a.size, b.size).then_with(names),
            Column::Objects => {
                let objects = |row: &Row| if row.is_folder { row.objects } else { Some(1) };
                self.known_first(objects(a), objects(b)).then_with(names)
            }
            Column::Modified => self.known_first(a.modified_s, b.modified_s).then_with(names),
            Column::Class => turned(a.class.cmp(&b.class)).then_with(names),
        }
    }

    fn known_first<T: Ord>(self, a: Option<T>, b: Option<T>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if self.is_descending => b.cmp(&a),
            (Some(a), Some(b)) => a.cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }
}

/// Whether a name holds what was typed, whatever the case of either.
pub(crate) fn matches(name: &str, typed: &str) -> bool {
    typed.is_empty() || name.to_lowercase().contains(&typed.to_lowercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(name: &str, is_folder: bool, size: Option<u64>) -> Row {
        let objects = is_folder.then_some(size.unwrap_or(0));
        Row { is_folder, size, objects, modified_s: None, ..Row::unknown_folder(name) }
    }

    fn names(sort: Sort, rows: &[Row]) -> String {
        let mut rows = rows.to_vec();
        sort.apply(&mut rows);
        rows.iter().map(|row| &*row.name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_column_has_its_order() {
        let rows = [
            row("b", false, Some(1)),
            row("a", false, Some(5)),
            row("d", true, Some(3)),
            row("c", true, None),
        ];
        assert_eq!(names(Sort::by(Column::Name), &rows), "c d a b");
        assert_eq!(names(Sort::by(Column::Name).toggled(Column::Name), &rows), "d c b a");
        assert_eq!(names(Sort::by(Column::Size), &rows), "a d b c");
        let ascending = Sort::by(Column::Size).toggled(Column::Size);
        assert_eq!(names(ascending, &rows), "b d a c", "what is not known comes last");
        assert_eq!(names(Sort::by(Column::Objects), &rows), "d a b c");
        assert_eq!(names(Sort::by(Column::Modified), &rows), "a b c d");
        assert_eq!(Column::Class.next(), Column::Name);
    }

    #[test]
    fn the_case_of_what_is_typed_does_not_matter() {
        assert!(matches("Übung.TXT", "übung") && matches("a", "") && !matches("ab", "ba"));
    }

    proptest! {
        #[test]
        fn every_order_is_one(
            sizes in prop::collection::vec((any::<bool>(), prop::option::of(0u64..4)), 0..24),
            column in 0usize..5,
            is_descending in any::<bool>(),
        ) {
            let sort = Sort { column: Column::ALL[column], is_descending };
            let name = |at: usize| format!("{}", at % 7);
            let rows: Vec<_> =
                sizes.iter().enumerate().map(|(at, (f, size))| row(&name(at), *f, *size)).collect();
            let mut sorted = rows.clone();
            sort.apply(&mut sorted);
            prop_assert_eq!(rows.len(), sorted.len());
            for pair in sorted.windows(2) {
                prop_assert_ne!(sort.compare(&pair[0], &pair[1]), Ordering::Greater);
            }
            for a in &rows {
                for b in &rows {
                    prop_assert_eq!(sort.compare(a, b), sort.compare(b, a).reverse());
                }
            }
        }
    }
}
