//! A bucket seen past the command under test: the library's client, one request at a time.
//!
//! The client and the command share their wire code, so what must not be taken on its word (names
//! of keys above all) is also checked with boto3 where that is installed.

use std::collections::BTreeMap;
use std::future::Future;

use bytes::Bytes;
use s3haul_wire::Result;
use s3haul_wire::env::Env;
use s3haul_wire::ops::{CreateBucket, DeleteObject, GetObject, HeadObject, ListObjects, PutObject};
use s3haul_wire::{
    Client, ClientConfig, CredentialsConfig, EndpointConfig, ObjectHead, ObjectProperties, Payload,
    TlsConfig,
};
use tokio::runtime::{Builder, Runtime};

use crate::servers::Server;

/// A bucket of a server.
pub(crate) struct Remote<'a> {
    /// For what has no method here.
    pub(crate) client: Client,
    bucket: String,
    server: &'a Server,
    runtime: Runtime,
}

impl<'a> Remote<'a> {
    /// A bucket, which need not exist.
    pub(crate) fn new(server: &'a Server, bucket: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let config = ClientConfig {
            endpoint: EndpointConfig {
                url: Some(server.url.clone()),
                region: Some("us-east-1".to_owned()),
                ..EndpointConfig::default()
            },
            credentials: CredentialsConfig::Static {
                access_key_id: server.access_key.clone(),
                secret_access_key: server.secret_key.clone(),
                session_token: None,
            },
            tls: TlsConfig { verify: true, ca_bundle: server.authority() },
            ..ClientConfig::default()
        };
        let client = Client::new(config, Env::system()).unwrap();
        Self { client, bucket: bucket.to_owned(), server, runtime }
    }

    /// Another bucket of the same server, created.
    pub(crate) fn sibling(&self, suffix: &str) -> Remote<'a> {
        let sibling = Remote::new(self.server, &format!("{}-{suffix}", self.bucket));
        sibling.create_bucket();
        sibling
    }

    /// The bucket's name.
    pub(crate) fn name(&self) -> &str {
        &self.bucket
    }

    /// Runs requests.
    #[track_caller]
    pub(crate) fn wait<T>(&self, requests: impl Future<Output = Result<T>>) -> T {
        self.runtime.block_on(requests).unwrap_or_else(|e| panic!("{}: {e}", self.bucket))
    }

    #[track_caller]
    pub(crate) fn create_bucket(&self) {
        self.wait(
            self.client
                .create_bucket(CreateBucket { bucket: &self.bucket, ..CreateBucket::default() }),
        );
    }

    /// Writes an object.
    #[track_caller]
    pub(crate) fn put(&self, key: &str, bytes: &[u8]) {
        self.put_with(key, bytes, &ObjectProperties::default());
    }

    /// Writes an object with what it shall carry.
    #[track_caller]
    pub(crate) fn put_with(&self, key: &str, bytes: &[u8], properties: &ObjectProperties) {
        self.wait(self.client.put_object(PutObject {
            bucket: &self.bucket,
            key,
            payload: Payload::from_bytes(Bytes::copy_from_slice(bytes)),
            properties,
            checksum: None,
            conditions: s3haul_wire::ops::Conditions::default(),
        }));
    }

    /// Writes empty objects, some at a time.
    pub(crate) fn put_all(&self, keys: &[String]) {
        for keys in keys.chunks(32) {
            self.wait(async {
                let puts = keys.iter().map(|key| {
                    let (client, key, bucket) =
                        (self.client.clone(), key.clone(), self.bucket.clone());
                    tokio::spawn(async move {
                        let properties = ObjectProperties::default();
                        let conditions = s3haul_wire::ops::Conditions::default();
                        let payload = Payload::empty();
                        let (bucket, key) = (bucket.as_str(), key.as_str());
                        client
                            .put_object(PutObject {
                                bucket,
                                key,
                                payload,
                                properties: &properties,
                                checksum: None,
                                conditions,
                            })
                            .await
                    })
                });
                for put in puts.collect::<Vec<_>>() {
                    put.await.unwrap()?;
                }
                Ok(())
            });
        }
    }

    /// An object's bytes.
    #[track_caller]
    pub(crate) fn get(&self, key: &str) -> Vec<u8> {
        self.wait(async {
            let input = GetObject { bucket: &self.bucket, key, ..GetObject::default() };
            let mut body = self.client.get_object(input).await?.body;
            let mut bytes = Vec::new();
            while let Some(piece) = body.next().await {
                bytes.extend_from_slice(&piece?);
            }
            Ok(bytes)
        })
    }

    /// An object's headers with its checksums.
    #[track_caller]
    pub(crate) fn head(&self, key: &str) -> ObjectHead {
        self.wait(self.client.head_object(HeadObject {
            bucket: &self.bucket,
            key,
            checksums: true,
            ..HeadObject::default()
        }))
    }

    /// Removes an object.
    #[track_caller]
    pub(crate) fn delete(&self, key: &str) {
        self.wait(self.client.delete_object(DeleteObject {
            bucket: &self.bucket,
            key,
            ..DeleteObject::default()
        }));
    }

    /// All keys in the server's order.
    #[track_caller]
    pub(crate) fn keys(&self) -> Vec<String> {
        self.wait(async {
            let mut keys = Vec::new();
            let mut token: Option<String> = None;
            loop {
                let input = ListObjects {
                    bucket: &self.bucket,
                    continuation_token: token.as_deref(),
                    ..ListObjects::default()
                };
                let page = self.client.list_objects(input).await?;
                keys.extend(page.iter().map(|object| object.key.to_owned()));
                if !page.is_truncated {
                    return Ok(keys);
                }
                token = page.next_token;
                assert!(token.is_some(), "a truncated page without a token");
            }
        })
    }

    /// All keys with their bytes.
    #[track_caller]
    pub(crate) fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.keys().into_iter().map(|key| (key.clone(), self.get(&key))).collect()
    }

    /// Keys of open multipart uploads. Some servers answer only for a whole key as the prefix.
    #[track_caller]
    pub(crate) fn uploads(&self, key: &str) -> Vec<String> {
        let page = self.wait(self.client.list_multipart_uploads(&self.bucket, key, None));
        page.uploads.into_iter().map(|upload| upload.key).collect()
    }

    /// An object's tags, sorted.
    #[track_caller]
    pub(crate) fn tags(&self, key: &str) -> Vec<(String, String)> {
        let mut tags = self.wait(self.client.get_object_tagging(&self.bucket, key, None));
        tags.sort();
        tags
    }
}
