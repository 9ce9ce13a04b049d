//! Horizontal bars.

use crate::render::summary::report::Style;

/// Columns of a whole bar.
pub(super) const COLUMNS: usize = 20;

/// Left parts of a block, by eighths.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar for a part of a whole, always [`COLUMNS`] wide. What is not nothing has something to
/// show.
pub(super) fn bar(part: u64, whole: u64, style: Style) -> String {
    let steps = if style.unicode { 8 * COLUMNS } else { COLUMNS };
    let scaled = u128::from(part) * steps as u128 * 2 + u128::from(whole);
    let filled = scaled.checked_div(u128::from(whole) * 2).unwrap_or(0);
    let filled = usize::try_from(filled).unwrap_or(steps).min(steps).max(usize::from(part > 0));
    let mut bar = String::with_capacity(3 * COLUMNS);
    if style.unicode {
        bar.extend(std::iter::repeat_n('█', filled / 8));
        if filled % 8 > 0 {
            bar.push(EIGHTHS[filled % 8]);
        }
    } else {
        bar.extend(std::iter::repeat_n('#', filled));
    }
    let missing = COLUMNS - bar.chars().count();
    bar.extend(std::iter::repeat_n(' ', missing));
    bar
}

/// A part of a whole in percent; what is not nothing is not shown as nothing.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let permille = (u128::from(part) * 2000 + u128::from(whole)).checked_div(u128::from(whole) * 2);
    match permille {
        Some(0) if part > 0 => "<0.1%".to_owned(),
        permille => {
            let permille = permille.unwrap_or(0);
            format!("{}.{}%", permille / 10, permille % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_part() {
        let ascii = Style { unicode: false };
        let unicode = Style { unicode: true };
        let trimmed = |part, whole, style| bar(part, whole, style).trim_end().to_owned();
        assert_eq!(trimmed(0, 10, unicode), "");
        assert_eq!(trimmed(0, 0, unicode), "");
        assert_eq!(trimmed(1, 1_000_000, unicode), "▏");
        assert_eq!(trimmed(1, 2, unicode), "█".repeat(10));
        assert_eq!(trimmed(100, 160, unicode), "████████████▌");
        assert_eq!(trimmed(u64::MAX, u64::MAX, unicode), "█".repeat(20));
        assert_eq!(trimmed(1, 1_000_000, ascii), "#");
        assert_eq!(trimmed(1, 4, ascii), "#####");
        for part in 0..=100 {
            assert_eq!(bar(part, 100, unicode).chars().count(), COLUMNS);
            assert_eq!(bar(part, 100, ascii).chars().count(), COLUMNS);
        }
    }

    #[test]
    fn percents_have_one_place() {
        assert_eq!(percent(0, 0), "0.0%");
        assert_eq!(percent(1, 3), "33.3%");
        assert_eq!(percent(1, 100_000), "<0.1%");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0%");
    }
}
