//! What to list, as plain values: shared by all commands that go through the keys of a bucket.

use std::sync::Arc;

use s3haul::location::ObjectName;
use s3haul::plan::conditions::Conditions;
use s3haul::plan::filter::{Filter, FilterRoots};
use s3haul::plan::wildcard::Wildcard;
use s3haul::script::Program;
use s3haul_list::{KeyRange, ListRequest, Order};
use s3haul_wire::ClientConfig;

use super::Settings;
use super::conditions::conditions;
use super::script;
use crate::args::{ConditionArgs, FilterArgs, ListingArgs};
use crate::failure::Failure;
use crate::open_files;
use crate::render::listing::Entry;
use crate::settings::check::address;
use crate::settings::check::invalid_argument_type;

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
            (false, None) => settings.tuning.requests_at_once(),
        };
        let mut client = settings.client.clone();
        client.request_payer = args.requests.payer.is_requester();
        let wanted = client.max_connections.max(concurrency);
        client.max_connections = open_files::connections_within(wanted);
        let selection = Selection {
            script: script::filter(args.filter.as_deref())?,
            ..Selection::new(&object, wildcard, &args.filters, &args.conditions)?
        };
        Ok(Self {
            client,
            bucket: object.bucket,
            prefix,
            range: KeyRange {
                after: args.start_after.clone().unwrap_or_default(),
                through: args.stop_at.clone().filter(|key| !key.is_empty()),
            },
            selection,
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
            ..ListRequest::default()
        }
    }
}

/// Which of the listed objects are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// The address, where it has wildcards.
    pub(crate) wildcard: Option<Wildcard>,
    /// `--include` and `--exclude`.
    pub(crate) filter: Option<NameFilter>,
    /// Conditions, which are about the same names as these.
    pub(crate) conditions: Conditions,
    /// Length of what comes before them.
    pub(super) root_length: usize,
    /// `--filter`; what it says is not known here.
    pub(crate) script: Option<Program>,
}

impl Selection {
    /// From an address and flags; without a script.
    pub(super) fn new(
        object: &ObjectName,
        wildcard: Option<Wildcard>,
        filters: &FilterArgs,
        condition_args: &ConditionArgs,
    ) -> Result<Self, Failure> {
        let prefix = wildcard.as_ref().map_or(object.key.as_str(), Wildcard::prefix);
        let root_length = prefix.rfind('/').map_or(0, |slash| slash + 1);
        let root = &prefix[..root_length];
        let filter = (!filters.rules.is_empty())
            .then(|| NameFilter::new(filters, &format!("{}/{root}", object.bucket)));
        let conditions = conditions(condition_args)?;
        Ok(Self { wildcard, filter, conditions, root_length, script: None })
    }

    /// Whether nothing is left out.
    pub(crate) fn is_all(&self) -> bool {
        self.wildcard.is_none()
            && self.filter.is_none()
            && self.conditions.is_empty()
            && self.script.is_none()
    }

    /// Whether an object is selected, as far as the listing shows.
    pub(crate) fn includes(&self, entry: &Entry<'_>) -> bool {
        let key = entry.object.key;
        let name = key.get(self.root_length..).unwrap_or(key);
        self.wildcard.as_ref().is_none_or(|wildcard| wildcard.matches(key))
            && self.filter.as_ref().is_none_or(|filter| filter.includes(name))
            && self.conditions.takes(name, &entry.facts())
    }
}

/// `--include` and `--exclude`. Patterns are about what follows the last slash of the listed
/// prefix.
#[derive(Clone, Debug)]
pub(crate) struct NameFilter(Arc<Filter>);

impl NameFilter {
    fn new(args: &FilterArgs, root: &str) -> Self {
        let roots = FilterRoots { source: root.to_owned(), target: root.to_owned() };
        Self(Arc::new(Filter::new(&args.rules, &roots, root)))
    }

    fn includes(&self, name: &str) -> bool {
        self.0.includes(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul::job::FilterRule;
    use s3haul_wire::ops::ListedObject;

    fn selection(key: &str, filters: &[(bool, &str)], conditions: &ConditionArgs) -> Selection {
        let rule = |(include, pattern): &(bool, &str)| {
            let rule = if *include { FilterRule::Include } else { FilterRule::Exclude };
            rule((*pattern).into())
        };
        let filters = FilterArgs { rules: filters.iter().map(rule).collect() };
        let object = ObjectName::new("b", key);
        Selection::new(&object, Wildcard::parse(key), &filters, conditions).unwrap()
    }

    fn includes(selection: &Selection, key: &str, size: u64) -> bool {
        let object = ListedObject { key, size, ..ListedObject::default() };
        selection.includes(&Entry::from(object))
    }

    #[test]
    fn patterns_are_about_what_follows_the_last_slash_of_the_prefix() {
        let rules = [(false, "*"), (true, "lo*.gz")];
        let regex = ConditionArgs { regex: vec!["^lo".to_owned()], ..ConditionArgs::default() };
        for (filters, conditions) in [(&rules[..], &ConditionArgs::default()), (&[], &regex)] {
            let below = selection("data/lo", filters, conditions);
            assert!(includes(&below, "data/logs/x.gz", 1));
            assert!(!includes(&below, "data/x.txt", 1));
            let whole = selection("", filters, conditions);
            assert!(includes(&whole, "logs/x.gz", 1) && !includes(&whole, "data/logs/x.gz", 1));
        }
    }

    #[test]
    fn all_rules_must_agree() {
        let none = ConditionArgs::default();
        let sized = ConditionArgs { min_size: Some("2".to_owned()), ..none.clone() };
        assert!(Selection::default().is_all() && selection("k", &[], &none).is_all());
        assert!(!selection("a*z", &[], &none).is_all() && !selection("", &[], &sized).is_all());
        let both = selection("a*z", &[(false, "*y*")], &sized);
        assert!(includes(&both, "a/z", 2) && !includes(&both, "a/z", 1));
        assert!(!includes(&both, "a/yz", 2) && !includes(&both, "a/x", 2));
    }
}
