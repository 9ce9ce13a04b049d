//! The folder of a job in shards: in a bucket, or a directory that all workers see.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use s3haul_wire::error::{Error as WireError, ErrorKind};
use s3haul_wire::ops::{Conditions, DeleteObject, GetObject, ListObjects, PutObject};
use s3haul_wire::{Client, ObjectProperties, Payload};
use thiserror::Error;

use super::ledger::LedgerError;
use crate::engine::limits::blocking;
use crate::engine::range_reader::{ATTEMPTS_MAX, back_off};
use crate::location::ObjectName;

/// Longest file of the folder.
const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What files that are being written are called until they are there.
const UNFINISHED: &str = ".unfinished-";

/// Where the files of a job lie.
#[derive(Clone, Debug)]
pub enum JobFolder {
    /// Below a prefix, which ends in a slash.
    Bucket {
        /// Client of the bucket.
        client: Client,
        /// Bucket and prefix.
        prefix: ObjectName,
    },
    /// In a directory of a file system that has hard links.
    Directory(PathBuf),
}

/// Why the folder cannot be used.
#[derive(Debug, Error)]
pub enum FolderError {
    /// A request failed.
    #[error("could not {doing} `{name}`: {source}")]
    Wire {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        name: String,
        /// What failed.
        source: WireError,
    },
    /// A file could not be read or written.
    #[error("could not {doing} `{name}`: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        name: String,
        /// What failed.
        source: io::Error,
    },
    /// The service writes over what must be written once.
    #[error(
        "the service of `{name}` knows no conditional writes (If-None-Match), without which two \
         workers may commit one shard: put the job's folder into a bucket of another service, or \
         into a directory that all workers see"
    )]
    Unconditional {
        /// The folder.
        name: String,
    },
    /// There is a job already.
    #[error(
        "`{name}` is the folder of another job, or of an earlier run of this one: each run needs \
         its own, unless --resume is given"
    )]
    Taken {
        /// The folder.
        name: String,
    },
    /// There was one.
    #[error("the job of `{name}` was removed")]
    Removed {
        /// The folder.
        name: String,
    },
    /// There is another one now.
    #[error(
        "the job of `{name}` was replaced by another run: start the command again to take part in \
         it"
    )]
    Replaced {
        /// The folder.
        name: String,
    },
    /// There is no job.
    #[error("`{name}` is not the folder of a job: it has no job.json")]
    Missing {
        /// The folder.
        name: String,
    },
    /// Its files make no sense.
    #[error("the job of `{name}` cannot be gone on with: {source}")]
    Ledger {
        /// The folder.
        name: String,
        /// What is wrong.
        source: LedgerError,
    },
}

/// A file of the folder, and what changes when it is written anew.
pub(super) type Found = (String, String);

impl JobFolder {
    /// How it is shown.
    pub fn name(&self) -> String {
        match self {
            Self::Bucket { prefix, .. } => prefix.to_string(),
            Self::Directory(path) => path.display().to_string(),
        }
    }

    /// A folder in it.
    pub(super) fn below(&self, name: &str) -> Self {
        match self {
            Self::Bucket { client, prefix: ObjectName { bucket, key, .. } } => Self::Bucket {
                client: client.clone(),
                prefix: ObjectName::new(bucket.clone(), format!("{key}{name}/")),
            },
            Self::Directory(path) => Self::Directory(path.join(name)),
        }
    }

    fn name_of(&self, name: &str) -> String {
        format!("{}/{name}", self.name().trim_end_matches('/'))
    }

    fn fail(&self, doing: &'static str, name: &str, source: WireError) -> FolderError {
        FolderError::Wire { doing, name: self.name_of(name), source }
    }

    fn fail_io(&self, doing: &'static str, name: &str, source: io::Error) -> FolderError {
        FolderError::Io { doing, name: self.name_of(name), source }
    }

    /// Begins a job: writes `job.json`, once it is known that nothing is written over.
    pub async fn begin(&self, plan: &[u8]) -> Result<(), FolderError> {
        if self.read("job.json").await?.is_some() {
            return Err(FolderError::Taken { name: self.name() });
        }
        if matches!(self, Self::Bucket { .. }) {
            let probe = format!("probe-{:016x}", fastrand::u64(..));
            self.write(&probe, b"first").await?;
            let is_overwritten = self.create(&probe, b"second").await;
            self.remove(&probe).await?;
            match is_overwritten {
                Ok(false) => {}
                Ok(true) => return Err(FolderError::Unconditional { name: self.name() }),
                Err(FolderError::Wire { source, .. }) if source.code() == "NotImplemented" => {
                    return Err(FolderError::Unconditional { name: self.name() });
                }
                Err(error) => return Err(error),
            }
        }
        if self.create("job.json", plan).await? {
            return Ok(());
        }
        Err(FolderError::Taken { name: self.name() })
    }

    /// Writes a file unless there is one; gives whether it did.
    pub(super) async fn create(&self, name: &str, text: &[u8]) -> Result<bool, FolderError> {
        match self {
            Self::Bucket { .. } => match self.put(name, text, true).await {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == ErrorKind::PreconditionFailed => Ok(false),
                Err(error) => Err(self.fail("write", name, error)),
            },
            Self::Directory(folder) => {
                let (path, text) = (folder.join(name), text.to_vec());
                let created = blocking(move || create_file(&path, &text)).await;
                created.map_err(|error| self.fail_io("write", name, error))
            }
        }
    }

    /// Writes a file, whatever was there.
    pub(super) async fn write(&self, name: &str, text: &[u8]) -> Result<(), FolderError> {
        match self {
            Self::Bucket { .. } => {
                let put = self.put(name, text, false).await;
                put.map_err(|error| self.fail("write", name, error))
            }
            Self::Directory(folder) => {
                let (path, text) = (folder.join(name), text.to_vec());
                let written = blocking(move || {
                    let unfinished = write_unfinished(&path, &text)?;
                    fs::rename(unfinished, path)
                });
                written.await.map_err(|error| self.fail_io("write", name, error))
            }
        }
    }

    /// A file; none where there is none.
    pub async fn read(&self, name: &str) -> Result<Option<Vec<u8>>, FolderError> {
        match self {
            Self::Bucket { client, prefix } => {
                let key = format!("{}{name}", prefix.key);
                let input = GetObject { bucket: &prefix.bucket, key: &key, ..GetObject::default() };
                let mut attempts = 0;
                loop {
                    let mut found = match client.get_object(input).await {
                        Ok(found) => found,
                        Err(error) if error.code() == "NoSuchKey" => return Ok(None),
                        Err(error) => return Err(self.fail("read", name, error)),
                    };
                    attempts += 1;
                    match found.body.collect(FILE_BYTES_MAX).await {
                        Ok(text) => return Ok(Some(text.to_vec())),
                        // It broke, or was damaged, on its way.
                        Err(error) if may_read_again(&error) && attempts < ATTEMPTS_MAX => {
                            back_off(attempts).await;
                        }
                        Err(error) => return Err(self.fail("read", name, error)),
                    }
                }
            }
            Self::Directory(folder) => {
                let path = folder.join(name);
                match blocking(move || fs::read(path)).await {
                    Ok(text) => Ok(Some(text)),
                    Err(error) if is_missing(&error) => Ok(None),
                    Err(error) => Err(self.fail_io("read", name, error)),
                }
            }
        }
    }

    /// The files below a folder in it, by their names in that folder.
    pub(super) async fn list(&self, below: &str) -> Result<Vec<Found>, FolderError> {
        match self {
            Self::Bucket { client, prefix } => {
                let below_key = format!("{}{below}/", prefix.key);
                let mut found = Vec::new();
                let mut token: Option<String> = None;
                loop {
                    let input = ListObjects {
                        bucket: &prefix.bucket,
                        prefix: &below_key,
                        continuation_token: token.as_deref(),
                        ..ListObjects::default()
                    };
                    let page = client.list_objects(input).await;
                    let page = page.map_err(|error| self.fail("list", below, error))?;
                    found.extend(page.iter().filter_map(|object| {
                        let name = object.key.strip_prefix(&below_key)?;
                        Some((name.to_owned(), object.etag.to_owned()))
                    }));
                    // A page may be empty and not the last.
                    let next = page.next_token.clone().filter(|_| page.is_truncated);
                    if next.is_none() {
                        return Ok(found);
                    }
                    if next == token {
                        let message = "the listing gave the same continuation token again";
                        let error = WireError::new(ErrorKind::Server, message);
                        return Err(self.fail("list", below, error));
                    }
                    token = next;
                }
            }
            Self::Directory(folder) => {
                let path = folder.join(below);
                let found = blocking(move || list_directory(&path)).await;
                found.map_err(|error| self.fail_io("list", below, error))
            }
        }
    }

    /// Removes a file, where there is one.
    pub(super) async fn remove(&self, name: &str) -> Result<(), FolderError> {
        match self {
            Self::Bucket { client, prefix } => {
                let key = format!("{}{name}", prefix.key);
                let input = DeleteObject {
                    bucket: &prefix.bucket,
                    key: &key,
                    version_id: None,
                    if_match: None,
                    bypass_governance: false,
                };
                let removed = client.delete_object(input).await;
                removed.map_err(|error| self.fail("remove", name, error))
            }
            Self::Directory(folder) => {
                let path = folder.join(name);
                match blocking(move || fs::remove_file(path)).await {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        Err(self.fail_io("remove", name, error))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    async fn put(&self, name: &str, text: &[u8], if_absent: bool) -> Result<(), WireError> {
        let Self::Bucket { client, prefix } = self else { return Ok(()) };
        let key = format!("{}{name}", prefix.key);
        let mut payload = Payload::from_bytes(Bytes::copy_from_slice(text));
        payload.digest(client.upload_digests(None));
        let input = PutObject {
            bucket: &prefix.bucket,
            key: &key,
            payload,
            properties: &ObjectProperties::default(),
            checksum: None,
            conditions: Conditions { if_absent, ..Conditions::default() },
        };
        client.put_object(input).await.map(drop)
    }
}

fn may_read_again(error: &WireError) -> bool {
    matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout | ErrorKind::Integrity)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Writes a file to the disk and gives it its name, unless that is taken: `link` is what shared
/// file systems do for one only.
fn create_file(path: &Path, text: &[u8]) -> io::Result<bool> {
    let unfinished = write_unfinished(path, text)?;
    let linked = fs::hard_link(&unfinished, path);
    // Over a network the link may be made and its answer lost: then the file has two names.
    let has_two_names = fs::metadata(&unfinished).is_ok_and(|metadata| metadata.nlink() > 1);
    fs::remove_file(&unfinished)?;
    match linked {
        _ if has_two_names => {
            // The name has to outlive a loss of power as well.
            path.parent().map_or(Ok(()), |parent| fs::File::open(parent)?.sync_all())?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
        Ok(()) => Err(io::Error::other("the file system has no hard links")),
    }
}

fn write_unfinished(path: &Path, text: &[u8]) -> io::Result<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let unfinished = folder.join(format!("{UNFINISHED}{:016x}", fastrand::u64(..)));
    let mut file = fs::File::create_new(&unfinished)?;
    let written = file.write_all(text).and_then(|()| file.sync_all());
    if written.is_err() {
        // What is left of it is of no use, and its removal may fail as well.
        _ = fs::remove_file(&unfinished);
    }
    written.map(|()| unfinished)
}

fn list_directory(path: &Path) -> io::Result<Vec<Found>> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with(UNFINISHED) {
            continue;
        }
        // Gone since it was listed: it was a claim.
        let Ok(metadata) = entry.metadata() else { continue };
        found.push((name, format!("{:?}", metadata.modified()?)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use s3haul_wire::testing::{Reply, World, client};

    use super::*;

    fn folder(world: &World) -> JobFolder {
        let prefix = ObjectName::new("b".to_owned(), "job/".to_owned());
        JobFolder::Bucket { client: client(world), prefix }
    }

    /// What was behind it was taken for not there.
    #[tokio::test(start_paused = true)]
    async fn an_empty_page_is_not_the_end() {
        let world = World::new(|seen| {
            let (entries, token) = match seen.number {
                0 => ("", "<NextContinuationToken>t</NextContinuationToken>"),
                _ => {
                    ("<Contents><Key>job/c/1</Key><ETag>\"e\"</ETag><Size>1</Size></Contents>", "")
                }
            };
            Reply::ok(&format!(
                "<ListBucketResult><IsTruncated>{}</IsTruncated>{token}{entries}\
                 </ListBucketResult>",
                !token.is_empty()
            ))
        });
        let found = folder(&world).list("c").await.unwrap();
        assert_eq!(found.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), ["1"]);
        assert_eq!(world.seen().len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_breaks_on_its_way_is_read_again() {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-length: 4\r\netag: \"e\"\r\nx-amz-request-id: 1\r\n\r\n";
        let world = World::new(move |seen| match seen.number {
            0..2 => Reply::raw(format!("{head}te")),
            _ => Reply::raw(format!("{head}text")),
        });
        assert_eq!(folder(&world).read("job.json").await.unwrap().unwrap(), b"text");
    }
}
