//! What to list, as plain values: shared by all commands that go through the keys of a bucket.

use std::sync::Arc;

use s3haul::list::{KeyRange, ListRequest, Order};
use s3haul::plan::filter::{Filter, FilterKind, FilterRoots, FilterRule};
use s3haul::plan::wildcard::Wildcard;
use s3haul::s3::ClientConfig;
use s3haul::script::Program;

use super::Settings;
use super::script;
use super::stream::address;
use super::transfer::invalid_argument_type;
use crate::args::{FilterArgs, ListingArgs};
use crate::failure::Failure;

/// What to list and how.
#[derive(Clone, Debug)]
pub(crate) struct ListingSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Bucket.
    pub(crate) bucket: String,
    /// What all keys start with.
    pub(crate) prefix: String,
    /// Only keys in it.
    pub(crate) range: KeyRange,
    /// Which of the listed objects.
    pub(crate) selection: Selection,
    /// Requests in flight.
    pub(crate) concurrency: usize,
    /// One page after the other.
    pub(crate) is_serial: bool,
    /// Keys a page.
    pub(crate) page_size: Option<u32>,
    /// JSON output.
    pub(crate) json: bool,
}

impl ListingSettings {
    /// From the flags of a command.
    pub(crate) fn new(
        settings: &Settings,
        args: &ListingArgs,
        command: &str,
    ) -> Result<Self, Failure> {
        let object = address(&args.path)?;
        if object.bucket.is_empty() {
            return Err(invalid_argument_type(command, "<S3Uri>"));
        }
        let wildcard = Wildcard::parse(&object.key).filter(|_| !args.raw);
        let prefix = wildcard.as_ref().map_or(object.key.as_str(), Wildcard::prefix).to_owned();
        let concurrency = match (args.serial, args.concurrency) {
            (true, _) => 1,
            (false, Some(requests)) => requests as usize,
            (false, None) => settings.tuning.max_concurrent_requests,
        };
        let mut client = settings.client.clone();
        client.request_payer = args.requests.payer.is_requester();
        client.max_connections = client.max_connections.max(concurrency);
        let filter = (!args.filters.rules.is_empty())
            .then(|| NameFilter::new(&args.filters, &object.bucket, &prefix));
        let script = script::filter(args.filter.as_deref())?;
        Ok(Self {
            client,
            bucket: object.bucket,
            prefix,
            range: KeyRange {
                after: args.start_after.clone().unwrap_or_default(),
                through: args.stop_at.clone().filter(|key| !key.is_empty()),
            },
            selection: Selection { wildcard, filter, script },
            concurrency,
            is_serial: args.serial,
            page_size: args.requests.page_size,
            json: settings.json,
        })
    }

    /// Whether the address names no key.
    pub(crate) fn is_whole_bucket(&self) -> bool {
        self.prefix.is_empty() && self.selection.wildcard.is_none()
    }

    /// In which order pages are worked on: what is listed serially stays in the server's order.
    pub(crate) fn work_order(&self, order: Order) -> Order {
        if self.is_serial { Order::Ascending } else { order }
    }

    /// The request to list it all.
    pub(crate) fn request(&self, order: Order) -> ListRequest {
        ListRequest {
            prefix: self.prefix.clone(),
            range: self.range.clone(),
            order,
            concurrency: self.concurrency,
            page_size: self.page_size,
            is_eager: !self.is_serial,
            is_serial: self.is_serial,
            ..ListRequest::new(self.bucket.clone())
        }
    }
}

/// Which of the listed objects are wanted, by their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// The address, where it has wildcards.
    pub(crate) wildcard: Option<Wildcard>,
    /// `--include` and `--exclude`.
    pub(crate) filter: Option<NameFilter>,
    /// `--filter`; what it says is not known here.
    pub(crate) script: Option<Program>,
}

impl Selection {
    /// Whether nothing is left out.
    pub(crate) fn is_all(&self) -> bool {
        self.wildcard.is_none() && self.filter.is_none() && self.script.is_none()
    }

    /// Whether an object with this key is wanted, as far as its key tells.
    pub(crate) fn includes(&self, key: &str) -> bool {
        self.wildcard.as_ref().is_none_or(|wildcard| wildcard.matches(key))
            && self.filter.as_ref().is_none_or(|filter| filter.includes(key))
    }
}

/// `--include` and `--exclude`. Patterns are about what follows the last slash of the listed
/// prefix.
#[derive(Clone, Debug)]
pub(crate) struct NameFilter {
    filter: Arc<Filter>,
    root_length: usize,
}

impl NameFilter {
    fn new(args: &FilterArgs, bucket: &str, prefix: &str) -> Self {
        let root_length = prefix.rfind('/').map_or(0, |slash| slash + 1);
        let root = format!("{bucket}/{}", &prefix[..root_length]);
        let rules: Vec<FilterRule> = args
            .rules
            .iter()
            .map(|rule| FilterRule {
                kind: if rule.include { FilterKind::Include } else { FilterKind::Exclude },
                pattern: rule.pattern.clone(),
            })
            .collect();
        let roots = FilterRoots { source: root.clone(), target: root.clone() };
        Self { filter: Arc::new(Filter::new(&rules, &roots, &root)), root_length }
    }

    fn includes(&self, key: &str) -> bool {
        key.get(self.root_length..).is_none_or(|relative| self.filter.includes(relative))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul::job::FilterRule as Rule;

    #[test]
    fn patterns_are_about_what_follows_the_last_slash_of_the_prefix() {
        let rule = |include, pattern: &str| Rule { include, pattern: pattern.to_owned() };
        let args = FilterArgs { rules: vec![rule(false, "*"), rule(true, "lo*.gz")] };
        let filter = NameFilter::new(&args, "b", "data/lo");
        assert!(filter.includes("data/logs/x.gz"));
        assert!(!filter.includes("data/logs/x.txt"));
        let whole = NameFilter::new(&args, "b", "");
        assert!(whole.includes("logs/x.gz") && !whole.includes("data/logs/x.gz"));
    }

    #[test]
    fn all_rules_must_agree() {
        let selection = Selection { wildcard: Wildcard::parse("a*z"), filter: None, script: None };
        assert!(Selection::default().is_all() && !selection.is_all());
        assert!(selection.includes("a/z") && !selection.includes("a/y"));
    }
}
