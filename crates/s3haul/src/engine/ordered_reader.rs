//! An object received in ranges, many at once, and given in order.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use crate::engine::core::Engine;
use crate::engine::integrity::Piece;
use crate::engine::integrity::check;
use crate::engine::integrity::combine;
use crate::engine::limits::Tasks;
use crate::engine::limits::blocking;
use crate::engine::parts;
use crate::engine::parts::Part;
use crate::engine::parts::download_parts;
use crate::engine::range_reader::ObjectState;
use crate::engine::range_reader::RangeReader;
use s3haul_wire::Checksum;
use s3haul_wire::Hasher;
use s3haul_wire::error::Result;

/// Ranges that are received ahead of the output.
const RANGES_AHEAD_MAX: usize = 16;

/// Receives an object in ranges ahead and writes them in order; `write` runs on threads that may
/// block.
pub(crate) async fn in_order<W>(
    engine: &Arc<Engine>,
    object: ObjectState,
    size: u64,
    expected: Option<Checksum>,
    mut write: W,
) -> Result<()>
where
    W: FnMut(u64, &Bytes) -> Result<()> + Send + 'static,
{
    let mut ahead = ReadAhead::new(engine, object, size);
    let algorithm = expected.as_ref().map(|checksum| checksum.algorithm);
    let mut pieces = Vec::new();
    while let Some((part, chunks)) = ahead.next().await? {
        let (written, piece);
        (write, written, piece) = blocking(move || {
            let mut hasher = algorithm.map(Hasher::new);
            let mut position = part.range.start;
            let written = chunks.iter().try_for_each(|chunk| {
                if let Some(hasher) = &mut hasher {
                    hasher.update(chunk);
                }
                let written = write(position, chunk);
                position += chunk.len() as u64;
                written
            });
            let length = part.range.len();
            let piece = hasher.map(|hasher| Piece { checksum: hasher.finish(), length });
            (write, written, piece)
        })
        .await;
        written?;
        engine.report.moved(part.range.len());
        pieces.extend(piece);
    }
    match expected {
        Some(expected) if size > 0 => check(&ahead.object.key, &expected, combine(pieces).as_ref()),
        _ => Ok(()),
    }
}

type Fetched = Result<Vec<Bytes>>;

/// Ranges of one object, received in parallel and given in order.
struct ReadAhead {
    engine: Arc<Engine>,
    object: ObjectState,
    parts: parts::Parts,
    tasks: Tasks<(u32, Fetched)>,
    /// Ranges asked for and not yet given, in order, with their bytes once they are there.
    waiting: VecDeque<(Part, crate::engine::budget::Share, Option<Fetched>)>,
    ahead_max: usize,
}

impl ReadAhead {
    fn new(engine: &Arc<Engine>, object: ObjectState, size: u64) -> Self {
        let object = object.of_size(size);
        let tuning = &engine.settings.tuning;
        let part_size = tuning.multipart_chunksize.max(1);
        // All ranges ahead fit the budget together, so that an early one never waits for a later.
        let fitting = usize::try_from(tuning.memory_budget / 2 / part_size).unwrap_or(usize::MAX);
        let ahead_max = fitting.min(engine.limits.requests_max()).clamp(1, RANGES_AHEAD_MAX);
        Self {
            engine: Arc::clone(engine),
            object,
            parts: download_parts(size, part_size),
            tasks: Tasks::new(),
            waiting: VecDeque::new(),
            ahead_max,
        }
    }

    async fn next(&mut self) -> Result<Option<(Part, Vec<Bytes>)>> {
        while self.waiting.len() < self.ahead_max
            && let Some(part) = self.parts.clone().next()
        {
            let budget = &self.engine.limits.budget;
            // Only a reader that holds no share may wait: otherwise several outputs could deadlock.
            let share = if self.waiting.is_empty() {
                budget.take(part.range.len()).await
            } else {
                let Some(share) = budget.try_take(part.range.len()) else { break };
                share
            };
            self.parts.next();
            self.waiting.push_back((part, share, None));
            let (engine, object) = (Arc::clone(&self.engine), self.object.clone());
            self.tasks.spawn(async move { (part.number, fetch(&engine, &object, part).await) });
        }
        while matches!(self.waiting.front(), Some((_, _, None))) {
            let Some((number, fetched)) = self.tasks.next().await else { break };
            let waiting = self.waiting.iter_mut().find(|(part, ..)| part.number == number);
            if let Some((_, _, slot)) = waiting {
                *slot = Some(fetched);
            }
        }
        match self.waiting.pop_front() {
            Some((part, _share, Some(fetched))) => Ok(Some((part, fetched?))),
            _ => Ok(None),
        }
    }
}

async fn fetch(engine: &Engine, object: &ObjectState, part: Part) -> Fetched {
    let mut reader = RangeReader::new(engine, object, part.range);
    engine.send(|| reader.gather(u64::MAX)).await
}
