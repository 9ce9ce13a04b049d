//! Where in a key a byte stands: what the model of the keys distinguishes.

use super::aged::spread;
use super::utf8;

/// The state after the bytes of a key read so far. A *token* is a run of letters and digits
/// within a folder's name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Number of `/` before.
    pub(super) depth: u16,
    /// Number of tokens before, in this folder's name.
    token: u16,
    /// Characters of the token before.
    offset: u16,
    /// Bytes of the present character still missing.
    pub(super) pending: u8,
    /// First byte of the present character.
    pub(super) lead: u8,
    /// The two bytes before, within the folder.
    recent: u16,
    hash: u64,
    folder: u64,
}

/// Whose statistics: of one folder, or of all folders as deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Depth,
    Folder,
}

/// Hashes that name the contexts of a place, from the general to the special.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contexts {
    /// All characters of the token.
    pub(super) pool: u64,
    /// At this offset of the token.
    pub(super) offset: u64,
    /// After the same two bytes as well; none where nothing is before.
    pub(super) recent: Option<u64>,
}

impl Place {
    /// The place after a string.
    pub(super) fn after(text: &[u8]) -> Self {
        text.iter().fold(Self::default(), |place, byte| place.step(*byte))
    }

    /// The place one byte on.
    #[must_use]
    pub(super) fn step(mut self, byte: u8) -> Self {
        self.hash =
            (self.hash.rotate_left(7) ^ u64::from(byte)).wrapping_mul(0x517C_C1B7_2722_0A95);
        if byte == b'/' {
            let (depth, hash) = (self.depth.saturating_add(1), self.hash);
            return Self { depth, hash, folder: hash, ..Self::default() };
        }
        self.recent = (self.recent << 8) | u16::from(byte);
        if self.pending > 0 {
            self.pending -= 1;
            self.offset += u16::from(self.pending == 0);
        } else if byte >= 0xC2 {
            self.pending = utf8::continuation_count(byte);
            self.lead = byte;
        } else if is_separator(byte) {
            self.token += 1;
            self.offset = 0;
        } else {
            self.offset += 1;
        }
        self
    }

    /// The contexts of the byte that follows.
    pub(super) fn contexts(&self, scope: Scope) -> Contexts {
        let owner = match scope {
            Scope::Depth => u64::from(self.depth),
            Scope::Folder => self.folder | 1 << 63,
        };
        let owner = owner.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ (u64::from(self.token) << 32);
        let at = owner ^ ((u64::from(self.offset) + 1) << 17);
        let has_recent = self.offset > 0 || self.token > 0;
        Contexts {
            pool: spread(owner),
            offset: spread(at),
            recent: has_recent.then(|| spread(at ^ (u64::from(self.recent) + 1) << 48)),
        }
    }

    /// The context within a character of several bytes.
    pub(super) fn within_character(&self) -> u64 {
        spread(0xC0DE ^ (u64::from(self.lead) << 8) ^ (u64::from(self.pending) << 20))
    }

    /// Names the folder.
    pub(super) fn folder(&self) -> u64 {
        self.folder
    }
}

/// Whether a byte separates tokens.
pub(super) fn is_separator(byte: u8) -> bool {
    (32..127).contains(&byte) && !byte.is_ascii_alphanumeric()
}
