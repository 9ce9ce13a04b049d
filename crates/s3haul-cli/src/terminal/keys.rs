//! What keys mean. Pure.

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Character(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
}

impl Key {
    /// The key of an event, where it is one of ours.
    pub(crate) fn of(event: KeyEvent) -> Option<Self> {
        let is_control = event.modifiers.contains(KeyModifiers::CONTROL);
        Some(match event.code {
            KeyCode::Char('c' | 'C') if is_control => Self::Interrupt,
            KeyCode::Char('h') if is_control => Self::Backspace,
            KeyCode::Char(_) if is_control || event.modifiers.contains(KeyModifiers::ALT) => {
                return None;
            }
            KeyCode::Char(character) => Self::Character(character),
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Escape,
            KeyCode::Backspace => Self::Backspace,
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::Left => Self::Left,
            KeyCode::Right => Self::Right,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            _ => return None,
        })
    }

    /// Where a cursor among so many rows goes; none where the key does not move it.
    pub(crate) fn moved(self, cursor: usize, rows: usize, page: usize) -> Option<usize> {
        let page = page.max(1);
        let wanted = match self {
            Self::Up | Self::Character('k') => cursor.saturating_sub(1),
            Self::Down | Self::Character('j') => cursor + 1,
            Self::PageUp => cursor.saturating_sub(page),
            Self::PageDown => cursor + page,
            Self::Home => 0,
            Self::End => usize::MAX,
            _ => return None,
        };
        Some(wanted.min(rows.saturating_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_alt_are_no_characters() {
        let key = |code, modifiers| Key::of(KeyEvent::new(code, modifiers));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(key(KeyCode::Char('d'), KeyModifiers::CONTROL), None);
        assert_eq!(key(KeyCode::Char('d'), KeyModifiers::ALT), None);
        assert_eq!(key(KeyCode::Char('D'), KeyModifiers::SHIFT), Some(Key::Character('D')));
        assert_eq!(key(KeyCode::F(1), KeyModifiers::NONE), None);
    }

    #[test]
    fn the_cursor_stays_among_the_rows() {
        assert_eq!(Key::Up.moved(0, 3, 2), Some(0));
        assert_eq!(Key::Down.moved(2, 3, 2), Some(2));
        assert_eq!(Key::PageDown.moved(0, 9, 4), Some(4));
        assert_eq!(Key::End.moved(0, 9, 4), Some(8));
        assert_eq!(Key::End.moved(0, 0, 4), Some(0));
        assert_eq!(Key::Enter.moved(0, 9, 4), None);
    }
}
