//! What is known of each bucket: its endpoint, host header, connections and signer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use http::HeaderValue;

use crate::config::ClientConfig;
use crate::credentials::cache::Held;
use crate::endpoint::{self, DEFAULT_REGION, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::net::connect::Route;
use crate::net::pool::{Host, Pool};
use crate::net::proxy::{self, ProxyTarget};
use crate::sign::signature::Signer;

/// Buckets remembered at most; beyond that all are resolved anew.
const REMEMBERED_MAX: usize = 4_096;

/// Everything that requests for one bucket share.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) target: Target,
    pub(crate) host_header: HeaderValue,
    pub(crate) host: Arc<Host>,
    /// `http://authority`, put before the path of requests to a forwarding proxy.
    pub(crate) absolute: Option<String>,
    /// The proxy that is given whole requests, over plain http.
    pub(crate) forwarder: Option<ProxyTarget>,
    signer: Mutex<Option<(u64, Arc<Signer>)>>,
}

impl Site {
    fn new(config: &ClientConfig, pool: &Pool, target: Target) -> Result<Arc<Self>> {
        let (https, port) = (target.https, target.port);
        let proxy = proxy::for_host(&config.proxy, https, &target.host, port)?;
        let authority = target.authority();
        let host_header = HeaderValue::from_str(&authority).map_err(|error| {
            Error::new(ErrorKind::Config, format!("`{authority}` is not a host name"))
                .with_source(error)
        })?;
        let forwarder = proxy.clone().filter(|_| !https);
        let absolute = forwarder.as_ref().map(|_| format!("http://{authority}"));
        let host = pool.host(Route { https, host: target.host.clone(), port, proxy });
        let signer = Mutex::default();
        Ok(Arc::new(Self { target, host_header, host, absolute, forwarder, signer }))
    }

    /// The signer for these credentials in this site's region.
    pub(crate) fn signer(&self, held: &Held) -> Arc<Signer> {
        let mut cached = self.signer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((generation, signer)) = &*cached
            && *generation == held.generation
        {
            return Arc::clone(signer);
        }
        let signer = Arc::new(Signer::new(held.credentials.clone(), self.target.region.clone()));
        *cached = Some((held.generation, Arc::clone(&signer)));
        signer
    }
}

/// The sites of a client by bucket; the empty name is the service itself.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    by_bucket: RwLock<HashMap<String, Arc<Site>>>,
}

impl Sites {
    /// The site of a bucket, resolved on first use.
    pub(crate) fn get(
        &self,
        config: &ClientConfig,
        pool: &Pool,
        bucket: Option<&str>,
    ) -> Result<Arc<Site>> {
        let name = bucket.unwrap_or_default();
        let known = self.by_bucket.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = known.get(name) {
            return Ok(Arc::clone(site));
        }
        drop(known);
        let region = config.endpoint.region.as_deref().unwrap_or(DEFAULT_REGION);
        let site = Self::resolve(config, pool, bucket, region)?;
        self.remember(name, Arc::clone(&site));
        Ok(site)
    }

    /// The site of a bucket in a region, not remembered.
    pub(crate) fn resolve(
        config: &ClientConfig,
        pool: &Pool,
        bucket: Option<&str>,
        region: &str,
    ) -> Result<Arc<Site>> {
        Site::new(config, pool, endpoint::resolve(&config.endpoint, bucket, region)?)
    }

    /// The site for another host that the server named, with the path of the present one.
    pub(crate) fn elsewhere(
        config: &ClientConfig,
        pool: &Pool,
        present: &Site,
        host: String,
        port: u16,
    ) -> Result<Arc<Site>> {
        Site::new(config, pool, Target { host, port, ..present.target.clone() })
    }

    /// Remembers where a bucket is.
    pub(crate) fn remember(&self, bucket: &str, site: Arc<Site>) {
        let mut known = self.by_bucket.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(bucket.to_owned(), site);
    }
}
