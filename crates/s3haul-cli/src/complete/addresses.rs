//! Profiles, and buckets and keys of the service that the rest of the line names.
//!
//! One request a folder, within a time limit; nothing on any error.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use s3haul_wire::Client;
use s3haul_wire::ops::{ListBuckets, ListObjects};

use super::cache::{Cache, Names};
use crate::args::{GlobalArgs, SideProfile};
use crate::commands::client;
use crate::render::escape::is_printable;
use crate::runtime;
use crate::settings::{CompletionSettings, Environment, profiles};

/// How long a service is waited for.
const LIMIT: Duration = Duration::from_millis(700);
/// Keys of a page.
const KEYS_MAX: u32 = 1000;
const SCHEME: &str = "s3://";

/// Completes the names of profiles.
pub(super) struct Profiles(pub(super) Environment);

impl ValueCompleter for Profiles {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let start = current.to_str().unwrap_or_default();
        let names = profiles(&self.0).into_iter();
        names.filter(|name| name.starts_with(start)).map(CompletionCandidate::new).collect()
    }
}

/// Where an argument may lead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// To S3 only.
    S3,
    /// To files, too.
    Files,
}

/// Completes addresses of buckets and objects.
pub(super) struct Addresses {
    /// The words before, which name the service.
    pub(super) words: Arc<[String]>,
    pub(super) environment: Environment,
    pub(super) reach: Reach,
    /// What flags of the first value begin with, and those of the second.
    pub(super) sides: [Option<&'static str>; 2],
}

impl ValueCompleter for Addresses {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        self.complete_at(0, current)
    }

    fn complete_at(&self, index: usize, current: &OsStr) -> Vec<CompletionCandidate> {
        let Some(text) = current.to_str() else { return Vec::new() };
        if text.len() < SCHEME.len() && SCHEME.starts_with(text) {
            let mut all = vec![CompletionCandidate::new(SCHEME)];
            if text.is_empty() && self.reach == Reach::Files {
                all.extend(PathCompleter::any().complete(current));
            }
            return all;
        }
        let side = self.sides.get(index).copied().flatten();
        text.strip_prefix(SCHEME).and_then(|name| self.below(name, side)).unwrap_or_default()
    }
}

impl Addresses {
    /// The names that go on from this beginning of a bucket's name, or of a bucket and a key.
    fn below(&self, name: &str, side: Option<&str>) -> Option<Vec<CompletionCandidate>> {
        let global = service(&self.words, side);
        let settings = CompletionSettings::new(&global, &self.environment, LIMIT)?;
        let CompletionSettings { client: config, cache, identity } = settings;
        let cache = cache.map(|folder| Cache::new(folder, identity));
        let known = |address: &str| cache.as_ref()?.get(address);
        let folder = name.rfind('/').map_or("", |slash| &name[..=slash]);
        let known_folder = known(folder).filter(|names| names.is_whole);
        let names = known_folder.or_else(|| known(name).filter(|_| !folder.is_empty()));
        let names = if let Some(names) = names {
            names
        } else {
            let names = asked(config, name)?;
            if let Some(cache) = &cache {
                cache.put(if folder.is_empty() { folder } else { name }, &names);
            }
            names
        };
        let going_on = names.names.iter().filter(|known| known.starts_with(name));
        Some(going_on.map(|known| CompletionCandidate::new(format!("{SCHEME}{known}"))).collect())
    }
}

/// Asks the service, and waits a moment for its answer.
fn asked(config: s3haul_wire::ClientConfig, name: &str) -> Option<Names> {
    let ask = async {
        let client = client(config)?;
        Ok(match name.split_once('/') {
            None => buckets(&client).await,
            Some((bucket, prefix)) => keys(&client, bucket, prefix).await,
        })
    };
    let limited = async {
        let answer = tokio::time::timeout(LIMIT, ask).await;
        answer.unwrap_or(Ok(None))
    };
    let mut names = runtime::block_on(limited).ok().flatten()?;
    // One that would move the cursor has to be typed, and breaks the lines of the cache.
    names.names.retain(|name| is_printable(name));
    Some(names)
}

async fn buckets(client: &Client) -> Option<Names> {
    let buckets = client.list_buckets(ListBuckets::default()).await.ok()?;
    let names = buckets.into_iter().map(|bucket| format!("{}/", bucket.name)).collect();
    Some(Names { names, is_whole: true })
}

async fn keys(client: &Client, bucket: &str, prefix: &str) -> Option<Names> {
    let (delimiter, max_keys) = (Some("/"), Some(KEYS_MAX));
    let input = ListObjects { bucket, prefix, delimiter, max_keys, ..ListObjects::default() };
    let page = client.list_objects(input).await.ok()?;
    let keys = page.keys().map(str::to_owned);
    let keys = keys.filter(|key| key != prefix);
    let keys = page.common_prefixes.iter().cloned().chain(keys);
    let mut names: Vec<_> = keys.map(|key| format!("{bucket}/{key}")).collect();
    names.sort();
    Some(Names { names, is_whole: !page.is_truncated })
}

/// The flags that name the service, those of a side before the plain ones.
fn service(words: &[String], side: Option<&str>) -> GlobalArgs {
    let value = |flag: &str| {
        let mut words = words.iter();
        words.find_map(|word| Some(word.strip_prefix(flag)?.to_owned())).and_then(|rest| {
            if rest.is_empty() {
                words.next().cloned()
            } else {
                rest.strip_prefix('=').map(str::to_owned)
            }
        })
    };
    let own = |flag: &str| side.and_then(|side| value(&format!("--{side}-{flag}")));
    let sided = |flag: &str| own(flag).or_else(|| value(&format!("--{flag}")));
    let has_profile = own("profile").is_some();
    let is_given = |flag: &str| words.iter().any(|word| word == flag);
    let is_unsigned = side.is_some_and(|side| is_given(&format!("--{side}-no-sign-request")));
    GlobalArgs {
        profile: sided("profile"),
        side_profile: SideProfile {
            credentials: has_profile,
            endpoint_url: has_profile && own("endpoint-url").is_none(),
            region: has_profile && own("region").is_none(),
        },
        region: sided("region"),
        endpoint_url: sided("endpoint-url"),
        no_sign_request: is_unsigned || is_given("--no-sign-request"),
        no_verify_ssl: is_given("--no-verify-ssl"),
        ca_bundle: value("--ca-bundle").map(Into::into),
        ..GlobalArgs::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_line_names_the_service() {
        let line = "s3haul --profile p cp --target-profile=t --region r --no-verify-ssl \
                    --source-no-sign-request --profiles x s3://a";
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let plain = service(&words, None);
        assert_eq!((plain.profile.as_deref(), plain.region.as_deref()), (Some("p"), Some("r")));
        assert!(plain.no_verify_ssl && !plain.no_sign_request && plain.endpoint_url.is_none());
        assert_eq!(service(&words, Some("target")).profile.as_deref(), Some("t"));
        assert!(service(&words, Some("source")).no_sign_request);
    }
}
