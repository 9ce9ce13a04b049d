//! What a comparison finds under each name.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::CompareSpec;
use super::outcome::{CompareSink, CompareSummary, Compared, Difference, Status};
use super::window::Window;
use crate::engine::core::Engine;
use crate::entry::Entry;
use crate::plan::compare::Facts;
use crate::plan::content::{Conclusion, Depth, Evidence, PartSizes, conclude};
use crate::plan::filter::Filter;
use crate::plan::join::Presence;
use crate::source::content::{examine, known};
use crate::source::pair::{Joined, Looked, Visitor, merge};
use crate::source::side::SideStream;
use s3haul_wire::error::Result;

/// A comparison on its way.
pub(crate) struct Comparison<'a> {
    spec: &'a CompareSpec,
    engine: &'a Arc<Engine>,
    /// Those of the source and the target.
    filters: [&'a Filter; 2],
    window: Window<'a>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn new(
        spec: &'a CompareSpec,
        filters: [&'a Filter; 2],
        engine: &'a Arc<Engine>,
        sink: &'a dyn CompareSink,
    ) -> Self {
        let window = Window::new(sink, &engine.report, engine.limits.at_once());
        Self { spec, engine, filters, window }
    }

    /// Compares to the end of both sides, or to the first error of one: what lies before it is
    /// reported.
    pub(crate) async fn run(
        mut self,
        mut source: SideStream,
        mut target: SideStream,
    ) -> Result<CompareSummary> {
        let engine = Arc::clone(self.engine);
        let merged = merge(&engine, (&mut source, &mut target), &mut self).await;
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

    fn push_alone(&mut self, mut joined: Joined<'_>) -> ControlFlow<()> {
        // An entry that could not be looked at has been reported, and is not missing.
        if joined.may_be_on_both() {
            return ControlFlow::Continue(());
        }
        let (source, target) = (joined.source(), joined.target());
        let status = if source.is_some() { Status::OnlySource } else { Status::OnlyTarget };
        let name = source.or(target).map_or("", |entry| entry.relative()).to_owned();
        // A filter may leave a name out on one side only: it was not looked for there.
        if !self.filters.iter().all(|filter| filter.includes(&name)) {
            return ControlFlow::Continue(());
        }
        let [source, target] = [source, target].map(|side| side.map(|entry| entry.facts()));
        self.window.push(Compared { name, source, target, status })
    }

    async fn push_pair(&mut self, joined: &Joined<'_>) -> ControlFlow<()> {
        let (Some(left), Some(right)) = (joined.source(), joined.target()) else {
            return ControlFlow::Continue(());
        };
        let (source, target) = (left.facts(), right.facts());
        let compared = move |name, status| Compared {
            name,
            source: Some(source),
            target: Some(target),
            status,
        };
        let name = left.relative().to_owned();
        if let Some(status) = self.decide((left, source), (right, target)) {
            return self.window.push(compared(name, status));
        }
        let Some(pair) = joined.pair() else { return ControlFlow::Continue(()) };
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

    /// What the listings show; `None` where they cannot decide.
    fn decide(&self, left: (Entry<'_>, Facts), right: (Entry<'_>, Facts)) -> Option<Status> {
        let different = |difference| Some(Status::Different(difference));
        if left.1.size != right.1.size {
            return different(Difference::Bytes(Evidence::Size));
        }
        if self.spec.compares_times && left.1.modified_s() != right.1.modified_s() {
            return different(Difference::Time);
        }
        if self.spec.depth == Depth::Sizes {
            return Some(Status::Same(Evidence::Size));
        }
        let sizes = PartSizes::of(self.engine.settings.tuning.multipart_chunksize);
        match conclude(&known(left.0), &known(right.0), self.spec.depth, sizes) {
            Conclusion::Same(evidence) => Some(Status::Same(evidence)),
            Conclusion::Different(evidence) => different(Difference::Bytes(evidence)),
            Conclusion::Unknown(_) => None,
        }
    }
}

impl Visitor for Comparison<'_> {
    async fn flush(&mut self, _: Looked<'_>) -> ControlFlow<()> {
        self.window.tidy().await
    }

    async fn visit(&mut self, joined: Joined<'_>) -> ControlFlow<()> {
        match joined.presence {
            Presence::Both => self.push_pair(&joined).await,
            Presence::Source | Presence::Target => self.push_alone(joined),
        }
    }
}
