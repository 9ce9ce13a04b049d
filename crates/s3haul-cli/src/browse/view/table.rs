//! The rows of a folder.

use super::Look;
use crate::browse::app::App;
use crate::browse::marks::Mark;
use crate::browse::rows::{Column, Row, Sort};
use crate::browse::tree::Listing;
use crate::render::numbers::grouped;
use crate::terminal::{Canvas, bar, minute, safe, size, width};

const SIZE_COLUMNS: u16 = 10;
const OBJECTS_COLUMNS: u16 = 13;
const TIME_COLUMNS: u16 = 16;
const CLASS_COLUMNS: u16 = 19;
const BAR_COLUMNS: u16 = 8;
/// Columns of the mark and what is between it and the name.
const MARK_COLUMNS: u16 = 2;
/// A terminal has to be this wide for each further column.
const WITH_BAR: u16 = 36;
const WITH_TIME: u16 = 64;
const WITH_OBJECTS: u16 = 78;
const WITH_CLASS: u16 = 100;

/// Where columns begin; those for which there is no room have none.
struct Places {
    name_columns: u16,
    size: u16,
    bar: Option<u16>,
    objects: Option<u16>,
    modified: Option<u16>,
    class: Option<u16>,
}

impl Places {
    fn new(columns: u16) -> Self {
        let mut end = columns;
        let mut place = |width: u16, from: u16| {
            (columns >= from).then(|| {
                end -= width + 1;
                end + 1
            })
        };
        let class = place(CLASS_COLUMNS, WITH_CLASS);
        let modified = place(TIME_COLUMNS, WITH_TIME);
        let objects = place(OBJECTS_COLUMNS, WITH_OBJECTS);
        let bar = place(BAR_COLUMNS, WITH_BAR);
        let size = place(SIZE_COLUMNS, 0).unwrap_or(0);
        let name_columns = size.saturating_sub(MARK_COLUMNS + 1);
        Self { name_columns, size, bar, objects, modified, class }
    }
}

/// Draws headings and the rows around the cursor.
pub(super) fn draw(app: &mut App, look: &mut Look, canvas: &mut Canvas<'_>) {
    let places = Places::new(canvas.size().0);
    headings(app.sort, look.unicode, &places, canvas);
    if app.cursor < app.scrolled {
        app.scrolled = app.cursor;
    } else if app.cursor >= app.scrolled + app.page {
        app.scrolled = app.cursor + 1 - app.page;
    }
    let largest = app.largest();
    let rows = app.shown_rows().skip(app.scrolled).take(app.page);
    for (y, row) in (2..).zip(rows) {
        let mark = match app.marks.of(&app.path, row) {
            Mark::Own => "*",
            Mark::Above => "+",
            Mark::None => " ",
        };
        canvas.strong(0, y, mark);
        draw_row(row, (y, largest), look, &places, canvas);
    }
    if app.shown_rows().len() == 0 {
        let nothing = match (&app.listing, app.row_count()) {
            (_, 1..) => "no name holds that",
            (Listing::Running, _) => "listing ...",
            _ => "nothing here",
        };
        canvas.plain(MARK_COLUMNS, 2, nothing);
    } else if let Ok(y) = u16::try_from(2 + app.cursor - app.scrolled) {
        canvas.select(y);
    }
}

fn headings(sort: Sort, unicode: bool, places: &Places, canvas: &mut Canvas<'_>) {
    let arrow = match (unicode, sort.is_descending) {
        (true, true) => "▾",
        (true, false) => "▴",
        (false, true) => "v",
        (false, false) => "^",
    };
    let title = |column: Column, name: &str| {
        if sort.column == column { format!("{name} {arrow}") } else { name.to_owned() }
    };
    canvas.strong_within(MARK_COLUMNS, 1, &title(Column::Name, "Name"), places.name_columns);
    let mut right = |x: u16, columns: u16, text: String| {
        canvas.strong(x + columns.saturating_sub(width(&text)), 1, &text);
    };
    right(places.size, SIZE_COLUMNS, title(Column::Size, "Size"));
    if let Some(x) = places.objects {
        right(x, OBJECTS_COLUMNS, title(Column::Objects, "Objects"));
    }
    if let Some(x) = places.modified {
        canvas.strong(x, 1, &title(Column::Modified, "Modified"));
    }
    if let Some(x) = places.class {
        canvas.strong(x, 1, &title(Column::Class, "Class"));
    }
}

fn draw_row(
    row: &Row,
    (y, largest): (u16, u64),
    look: &mut Look,
    places: &Places,
    canvas: &mut Canvas<'_>,
) {
    let name = safe(&row.name);
    if row.is_folder {
        canvas.folder(MARK_COLUMNS, y, &format!("{name}/"), places.name_columns);
    } else {
        // The object of a folder has the name of the folder.
        let name = if name.is_empty() { "./" } else { &name };
        canvas.within(MARK_COLUMNS, y, name, places.name_columns);
    }
    canvas.right(places.size, y, &size(row.size), SIZE_COLUMNS);
    if let (Some(x), Some(bytes)) = (places.bar, row.size) {
        canvas.share(x, y, &bar(bytes, largest, usize::from(BAR_COLUMNS), look.unicode));
    }
    if let Some(x) = places.objects.filter(|_| row.is_folder) {
        let objects = row.objects.map_or_else(|| "?".to_owned(), grouped);
        canvas.right(x, y, &objects, OBJECTS_COLUMNS);
    }
    if let Some(x) = places.modified {
        canvas.within(x, y, &minute(row.modified_s, &mut look.zone), TIME_COLUMNS);
    }
    if let Some(x) = places.class {
        canvas.within(x, y, &safe(&row.class), CLASS_COLUMNS);
    }
}
