//! Where objects are listed and looked at.

use std::sync::Arc;

use s3haul_wire::Client;

use super::saved::Saved;
use crate::browse::Place;
use crate::commands::shared::{SharedClients, client};
use crate::failure::Failure;
use crate::settings::{BrowsePlace, ListingSettings};

/// A bucket or a file.
#[derive(Clone)]
pub(super) enum Source {
    /// A bucket.
    Service { client: Client, listing: Arc<ListingSettings> },
    /// A saved listing.
    File(Arc<Saved>),
}

impl Source {
    /// Of the settings. Blocks where it is a file.
    pub(super) async fn new(
        place: &BrowsePlace,
        clients: &Arc<SharedClients>,
    ) -> Result<Self, Failure> {
        Ok(match place {
            BrowsePlace::Service(listing) => {
                let config = listing.client.clone();
                let client = clients.with(async { client(config) }).await?;
                Self::Service { client, listing: Arc::new((**listing).clone()) }
            }
            BrowsePlace::File(manifest, config) => {
                let config = (**config).clone();
                let client = clients.with(async { client(config) }).await?;
                Self::File(Arc::new(Saved::open(manifest.clone(), client)?))
            }
        })
    }

    /// What all keys begin with.
    pub(super) fn prefix(&self) -> &str {
        match self {
            Self::Service { listing, .. } => &listing.prefix,
            Self::File(_) => "",
        }
    }

    /// How it is shown.
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Service { listing, .. } => {
                let address = format!("s3://{}/", listing.bucket);
                let bucket = Some(listing.bucket.clone());
                Place { bucket, label: address.clone(), address }
            }
            Self::File(saved) => saved.place(),
        }
    }
}
