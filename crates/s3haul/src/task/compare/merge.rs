//! The merge of both sides into results.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::super::content::{examine, known};
use super::CompareSpec;
use super::outcome::{CompareSink, CompareSummary, Compared, Difference, Status};
use super::window::Window;
use crate::engine::core::Engine;
use crate::plan::compare::Facts;
use crate::plan::content::{Conclusion, Depth, Evidence, PartSizes, conclude};
use crate::plan::join::{Presence, presence};
use crate::source::side::{Item, Pair, SideStream};
use s3haul_wire::error::Result;

/// A comparison on its way.
pub(crate) struct Merge<'a> {
    spec: &'a CompareSpec,
    engine: &'a Arc<Engine>,
    window: Window<'a>,
}

/// What to do with a pair.
enum Next {
    Told(Status),
    Look(Box<Pair>),
}

impl<'a> Merge<'a> {
    pub(crate) fn new(
        spec: &'a CompareSpec,
        engine: &'a Arc<Engine>,
        sink: &'a dyn CompareSink,
    ) -> Self {
        Self { spec, engine, window: Window::new(sink, &engine.report, engine.limits.at_once()) }
    }

    /// Compares to the end of both sides, or to the first error of one: what lies before it is
    /// reported.
    pub(crate) async fn run(
        mut self,
        mut source: SideStream,
        mut target: SideStream,
    ) -> Result<CompareSummary> {
        let merged = self.merge(&mut source, &mut target).await;
        // The walks behind the sides end with them.
        drop((source, target));
        let mut is_wanted = !matches!(merged, Ok(ControlFlow::Break(())));
        if is_wanted {
            is_wanted = self.window.finish().await.is_continue();
        }
        if let Some(error) = self.window.early_end.take() {
            return Err(error);
        }
        merged.map(|_| CompareSummary { cancelled: !is_wanted, ..self.window.summary })
    }

    async fn merge(
        &mut self,
        source: &mut SideStream,
        target: &mut SideStream,
    ) -> Result<ControlFlow<()>> {
        let engine = Arc::clone(self.engine);
        let warn = |text| engine.report.warning(text);
        loop {
            if !(source.settle(warn)? & target.settle(warn)?) {
                if self.window.tidy().await.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                let (left, right) = tokio::join!(source.ready(warn), target.ready(warn));
                left?;
                right?;
            }
            let (left, right) = (source.head(), target.head());
            let names = (left.map(|item| item.relative()), right.map(|item| item.relative()));
            let Some(found) = presence(names.0, names.1) else {
                return Ok(ControlFlow::Continue(()));
            };
            let flow = match (found, left, right) {
                (Presence::Both, Some(left), Some(right)) => self.pair(left, right).await,
                // An entry that could not be looked at has been reported, and is not missing.
                (Presence::Source, Some(item), _) => {
                    let told = alone(item, Status::OnlySource);
                    self.push_unless(target.may_have(&told.name), told)
                }
                (_, _, Some(item)) => {
                    let told = alone(item, Status::OnlyTarget);
                    self.push_unless(source.may_have(&told.name), told)
                }
                _ => ControlFlow::Continue(()),
            };
            if flow.is_break() {
                return Ok(flow);
            }
            if found != Presence::Target {
                source.advance();
            }
            if found != Presence::Source {
                target.advance();
            }
        }
    }

    fn push_unless(&mut self, is_open: bool, compared: Compared) -> ControlFlow<()> {
        if is_open { ControlFlow::Continue(()) } else { self.window.push(compared) }
    }

    async fn pair(&mut self, left: Item<'_>, right: Item<'_>) -> ControlFlow<()> {
        let (source, target) = (left.facts(), right.facts());
        let compared = move |name, status| Compared {
            name,
            source: Some(source),
            target: Some(target),
            status,
        };
        let name = left.relative().to_owned();
        match self.decide((left, source), (right, target)) {
            Next::Told(status) => self.window.push(compared(name, status)),
            Next::Look(pair) => {
                let (engine, depth) = (Arc::clone(self.engine), self.spec.depth);
                let look = async move {
                    let status = match examine(&engine, &pair, depth).await {
                        Ok(Ok(evidence)) => Status::Same(evidence),
                        Ok(Err(evidence)) => Status::Different(Difference::Bytes(evidence)),
                        Err(error) => Status::Failed(error),
                    };
                    compared(name, status)
                };
                self.window.spawn(Box::pin(look)).await
            }
        }
    }

    /// Decides what the listings can decide.
    fn decide(&self, left: (Item<'_>, Facts), right: (Item<'_>, Facts)) -> Next {
        let different = |difference| Next::Told(Status::Different(difference));
        if left.1.size != right.1.size {
            return different(Difference::Bytes(Evidence::Size));
        }
        if self.spec.compares_times && left.1.modified_s() != right.1.modified_s() {
            return different(Difference::Time);
        }
        if self.spec.depth == Depth::Sizes {
            return Next::Told(Status::Same(Evidence::Size));
        }
        let sizes = PartSizes::of(self.engine.settings.tuning.multipart_chunksize);
        let (source, target) = (known(left.0), known(right.0));
        match conclude(&source, &target, self.spec.depth, sizes) {
            Conclusion::Same(evidence) => Next::Told(Status::Same(evidence)),
            Conclusion::Different(evidence) => different(Difference::Bytes(evidence)),
            Conclusion::Unknown(_) => {
                let pair = Pair { source: left.0.to_entry(), target: right.0.to_entry() };
                Next::Look(Box::new(pair))
            }
        }
    }
}

fn alone(item: Item<'_>, status: Status) -> Compared {
    let facts = Some(item.facts());
    let (source, target) = match status {
        Status::OnlySource => (facts, None),
        _ => (None, facts),
    };
    Compared { name: item.relative().to_owned(), source, target, status }
}
