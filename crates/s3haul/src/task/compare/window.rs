//! Results in the order of names, although they are found out in any order.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::outcome::{CompareSink, CompareSummary, Compared, Status};
use crate::engine::limits::Tasks;
use crate::engine::reporter::Reporter;
use crate::plan::content::Evidence;
use s3haul_wire::env::BoxFuture;
use s3haul_wire::error::Error;

/// Results that wait for one before them at most.
const LENGTH_MAX: usize = 10_000;

/// What is found out and what is not yet, in the order of names.
pub(crate) struct Window<'a> {
    sink: &'a dyn CompareSink,
    report: &'a Reporter,
    waiting: VecDeque<Option<Compared>>,
    /// Number of the first that waits.
    first: u64,
    tasks: Tasks<(u64, Compared)>,
    in_flight_max: usize,
    /// Sums of what was reported.
    pub(crate) summary: CompareSummary,
    /// What ended the comparison early: every pair that is left would fail like this.
    pub(crate) early_end: Option<Error>,
}

impl<'a> Window<'a> {
    pub(crate) fn new(
        sink: &'a dyn CompareSink,
        report: &'a Reporter,
        in_flight_max: usize,
    ) -> Self {
        Self {
            sink,
            report,
            waiting: VecDeque::new(),
            first: 0,
            tasks: Tasks::new(),
            in_flight_max,
            summary: CompareSummary::default(),
            early_end: None,
        }
    }

    /// Takes the next result.
    pub(crate) fn push(&mut self, compared: Compared) -> ControlFlow<()> {
        if self.waiting.is_empty() {
            self.first += 1;
            return self.tell(&compared);
        }
        self.waiting.push_back(Some(compared));
        ControlFlow::Continue(())
    }

    /// Finds out the next result; waits while there is too much to find out or to keep.
    pub(crate) async fn spawn(&mut self, compare: BoxFuture<'static, Compared>) -> ControlFlow<()> {
        while self.tasks.len() >= self.in_flight_max || self.waiting.len() >= LENGTH_MAX {
            let Some(ended) = self.tasks.next().await else { break };
            self.fill(ended)?;
        }
        let number = self.first + self.waiting.len() as u64;
        self.waiting.push_back(None);
        self.tasks.spawn(async move { (number, compare.await) });
        ControlFlow::Continue(())
    }

    /// Takes what was found out meanwhile; waits where too much is kept.
    pub(crate) async fn tidy(&mut self) -> ControlFlow<()> {
        while let Some(ended) = self.tasks.try_next() {
            self.fill(ended)?;
        }
        while self.waiting.len() >= LENGTH_MAX {
            let Some(ended) = self.tasks.next().await else { break };
            self.fill(ended)?;
        }
        ControlFlow::Continue(())
    }

    /// Waits for all.
    pub(crate) async fn finish(&mut self) -> ControlFlow<()> {
        while let Some(ended) = self.tasks.next().await {
            self.fill(ended)?;
        }
        debug_assert!(self.waiting.is_empty(), "every task fills its place");
        ControlFlow::Continue(())
    }

    fn fill(&mut self, (number, compared): (u64, Compared)) -> ControlFlow<()> {
        let place = usize::try_from(number - self.first).ok();
        if let Some(place) = place.and_then(|place| self.waiting.get_mut(place)) {
            *place = Some(compared);
        }
        while let Some(Some(_)) = self.waiting.front() {
            let Some(Some(compared)) = self.waiting.pop_front() else { break };
            self.first += 1;
            self.tell(&compared)?;
        }
        ControlFlow::Continue(())
    }

    fn tell(&mut self, compared: &Compared) -> ControlFlow<()> {
        self.summary.count(compared);
        self.sink.compared(compared)?;
        match &compared.status {
            Status::Failed(error) => {
                self.report.judge(Some(error));
                if self.report.ends_early() {
                    self.early_end = Some(error.duplicate());
                    return ControlFlow::Break(());
                }
            }
            // What the listings show says nothing about requests for objects.
            Status::Same(Evidence::Size) | Status::OnlySource | Status::OnlyTarget => {}
            Status::Same(_) | Status::Different(_) => _ = self.report.judge(None),
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::event::NoEvents;
    use crate::plan::content::Evidence;
    use s3haul_wire::error::ErrorKind;

    #[derive(Default)]
    struct Names(Mutex<Vec<String>>);

    impl CompareSink for Names {
        fn compared(&self, compared: &Compared) -> ControlFlow<()> {
            self.0.lock().unwrap().push(compared.name.clone());
            ControlFlow::Continue(())
        }

        fn warning(&self, _message: &str) {}
    }

    #[tokio::test]
    async fn a_comparison_ends_early_where_every_pair_would_fail() {
        let (sink, report) = (Names::default(), Reporter::new(std::sync::Arc::new(NoEvents)));
        let mut window = Window::new(&sink, &report, 4);
        let failed = |kind| Status::Failed(Error::new(kind, "no"));
        let compared = |name: &str, status| Compared {
            name: name.to_owned(),
            source: None,
            target: None,
            status,
        };
        assert!(window.push(compared("a", failed(ErrorKind::AccessDenied))).is_continue());
        assert!(window.push(compared("b", Status::Same(Evidence::Size))).is_continue());
        assert!(window.push(compared("c", failed(ErrorKind::Credentials))).is_break());
        assert_eq!(*sink.0.lock().unwrap(), ["a", "b", "c"]);
        assert_eq!(window.early_end.unwrap().kind(), ErrorKind::Credentials);
        assert!(report.early_end().load(Ordering::Relaxed), "requests under way end as well");
    }
}
