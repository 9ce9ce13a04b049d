//! Bodies of requests: bytes in memory, or a piece of a file that is read as it is sent.

use std::convert::Infallible;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};

/// Bytes a read of a file asks for: few enough to stay in a core's cache until they are sent.
pub(crate) const READ_BYTES: u64 = 256 << 10;

/// The body of a request.
pub(crate) enum Body {
    /// From memory, in one frame.
    Memory(Option<Bytes>),
    /// Read while it is sent.
    File(Piece),
}

/// A range of a file that is left to send.
pub(crate) struct Piece {
    pub(crate) file: Arc<File>,
    pub(crate) offset: u64,
    pub(crate) left: u64,
    /// Buffers handed out: each is used again once it was sent.
    pub(crate) sent: Vec<Lent>,
}

impl Body {
    /// No bytes.
    pub(crate) fn empty() -> Self {
        Self::Memory(None)
    }

    /// These bytes.
    pub(crate) fn full(bytes: Bytes) -> Self {
        Self::Memory(Some(bytes))
    }
}

impl Piece {
    /// # Panics
    ///
    /// Where the file cannot be read or has become shorter: no caller could receive the error.
    fn next(&mut self) -> Bytes {
        let length = usize::try_from(self.left.min(READ_BYTES)).expect("a small number");
        let mut buffer = self.buffer();
        let read = self.file.read_exact_at(&mut buffer.bytes()[..length], self.offset);
        read.expect("the file is readable and as long as it was");
        self.offset += length as u64;
        self.left -= length as u64;
        let sent = buffer.lend(length);
        let bytes = sent.bytes.clone();
        self.sent.push(sent);
        bytes
    }

    fn buffer(&mut self) -> Buffer {
        for index in 0..self.sent.len() {
            match self.sent.swap_remove(index).back() {
                Ok(free) => return free,
                Err(sent) => self.sent.push(sent),
            }
        }
        Buffer::new(usize::try_from(READ_BYTES).expect("a small number"))
    }
}

/// Memory that is read into again and again, so that it need not be zeroed again and again.
#[derive(Default)]
pub(crate) struct Buffer(BytesMut);

/// A buffer on its way, with the bytes of it that are sent.
pub(crate) struct Lent {
    whole: Bytes,
    pub(crate) bytes: Bytes,
}

impl Buffer {
    pub(crate) fn new(length: usize) -> Self {
        Self(BytesMut::zeroed(length))
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }

    pub(crate) fn lend(self, length: usize) -> Lent {
        let whole = self.0.freeze();
        Lent { bytes: whole.slice(..length), whole }
    }
}

impl Lent {
    /// The memory, once it has no other user.
    pub(crate) fn back(self) -> Result<Buffer, Self> {
        let Self { whole, bytes } = self;
        let length = bytes.len();
        drop(bytes);
        let whole = whole.try_into_mut().map(Buffer);
        whole.map_err(|whole| Self { bytes: whole.slice(..length), whole })
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut *self {
            Self::Memory(bytes) => bytes.take(),
            Self::File(piece) => (piece.left > 0).then(|| piece.next()),
        };
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.size_hint().exact() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Memory(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            Self::File(piece) => piece.left,
        })
    }
}
