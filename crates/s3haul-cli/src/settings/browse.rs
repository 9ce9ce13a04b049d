//! `browse`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use s3haul::job::value::{ListTask, Listing, Select, Task};
use s3haul::plan::price::PriceTable;
use s3haul::plan::s3_uri;
use s3haul_wire::ClientConfig;

use super::summarize::is_utf8;
use super::{
    Environment, JobRequest, ListingSettings, ManifestPlace, ManifestSettings, Settings,
    price_table_of,
};
use crate::args::{BrowseArgs, GlobalArgs};
use crate::failure::Failure;

/// `browse`.
#[derive(Debug)]
pub(crate) struct BrowseSettings {
    /// What is shown.
    pub(crate) place: BrowsePlace,
    /// Prices of requests.
    pub(crate) prices: PriceTable,
    /// Characters beyond ASCII may be shown.
    pub(crate) unicode: bool,
    /// The environment of the commands that are run.
    pub(crate) environment: Environment,
    /// Flags that reach the same service, for commands that are run and shown.
    pub(crate) flags: Vec<String>,
}

/// What is shown.
#[derive(Debug)]
pub(crate) enum BrowsePlace {
    /// What is below an address.
    Service(Box<ListingSettings>),
    /// What a file says that there is.
    File(ManifestSettings, Box<ClientConfig>),
}

impl BrowseSettings {
    /// Of the flags.
    pub(crate) fn new(
        settings: &Settings,
        global: &GlobalArgs,
        args: &BrowseArgs,
    ) -> Result<Self, Failure> {
        let place = if s3_uri::is_s3(&args.path) {
            BrowsePlace::Service(Box::new(listing(settings, args)?))
        } else {
            let path = PathBuf::from(&args.path);
            if !path.exists() {
                return Err(Failure::usage(format!(
                    "`{}` is no file and does not begin with s3://",
                    args.path
                )));
            }
            let manifest = ManifestSettings {
                place: ManifestPlace::File(path),
                format: None,
                bucket: String::new(),
                dry_run_of: None,
            };
            BrowsePlace::File(manifest, Box::new(settings.client.clone()))
        };
        let region = settings.client.endpoint.region.as_deref();
        let mut flags = flags(global);
        if args.requests.payer.is_requester() {
            flags.push("--request-payer".to_owned());
        }
        Ok(Self {
            place,
            prices: price_table_of(args.prices.as_deref(), region)?,
            unicode: is_utf8(&settings.environment),
            environment: settings.environment.clone(),
            flags,
        })
    }
}

fn listing(settings: &Settings, args: &BrowseArgs) -> Result<ListingSettings, Failure> {
    let page_size = args.requests.page_size.and_then(NonZeroU32::new);
    let listing = Listing {
        source: args.path.clone(),
        select: Select { raw: true, page_size, ..Select::default() },
        ..Listing::default()
    };
    let task = Task::List(Box::new(ListTask { listing: listing.clone(), ..ListTask::default() }));
    let request = JobRequest::reading(settings, args.requests.payer.is_requester(), task);
    ListingSettings::new(request.frame(&settings.machine())?, &listing, "browse")
}

/// Flags of all commands that say which service it is and how much of it is used.
fn flags(global: &GlobalArgs) -> Vec<String> {
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let path = global.ca_bundle.as_ref().map(|path| path.display().to_string());
    let valued = [
        ("--profile", global.profile.clone()),
        ("--region", global.region.clone()),
        ("--endpoint-url", global.endpoint_url.clone()),
        ("--ca-bundle", path),
        ("--cli-read-timeout", number(global.cli_read_timeout)),
        ("--cli-connect-timeout", number(global.cli_connect_timeout)),
        ("--max-concurrent-requests", number(global.max_concurrent_requests.map(u64::from))),
        ("--max-requests-per-second", number(global.max_requests_per_second.map(u64::from))),
        ("--max-memory", global.max_memory.clone()),
        ("--max-bandwidth", global.max_bandwidth.clone()),
    ];
    let mut flags = Vec::new();
    for (flag, value) in valued {
        flags.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
    }
    let plain =
        [("--no-sign-request", global.no_sign_request), ("--no-verify-ssl", global.no_verify_ssl)];
    flags.extend(plain.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| (*flag).to_owned()));
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_reach_the_same_service() {
        assert!(flags(&GlobalArgs::default()).is_empty());
        let global = GlobalArgs {
            profile: Some("p".to_owned()),
            max_concurrent_requests: Some(7),
            no_sign_request: true,
            no_progress: true,
            ..GlobalArgs::default()
        };
        let expected = ["--profile", "p", "--max-concurrent-requests", "7", "--no-sign-request"];
        assert_eq!(flags(&global), expected);
    }
}
