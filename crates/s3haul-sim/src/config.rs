//! Settings of a simulator, and their builder.

use std::path::PathBuf;
use std::time::Duration;

use crate::scenario::Scenario;
use crate::socket::TlsFiles;

/// Access key of a server that was given none (loopback only).
pub const DEFAULT_ACCESS_KEY: &str = "s3haul-access-key";
/// Secret key of a server that was given none (loopback only).
pub const DEFAULT_SECRET_KEY: &str = "s3haul-secret-key";
/// Bucket of a synthetic store unless named.
pub const DEFAULT_SYNTHETIC_BUCKET: &str = "synthetic";

/// A key pair that may sign requests.
#[derive(Clone)]
pub struct AccessKey {
    /// Access key id.
    pub id: String,
    /// Secret key.
    pub secret: String,
    /// Session token that must come along; none for long-term keys.
    pub session_token: Option<String>,
}

impl AccessKey {
    /// A long-term key pair.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self { id: id.into(), secret: secret.into(), session_token: None }
    }
}

impl std::fmt::Debug for AccessKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("AccessKey");
        shown.field("id", &self.id).field("secret", &"******").finish_non_exhaustive()
    }
}

/// Where objects live.
#[derive(Debug, Clone, Default)]
pub enum StoreKind {
    /// In memory.
    #[default]
    Memory,
    /// In memory, without the bytes: downloads get computed bytes. For benchmarks.
    Null {
        /// Whether bodies are hashed for their `ETag` and checksums.
        hash: bool,
    },
    /// As files under a directory.
    Disk(PathBuf),
    /// Read-only, keys from a file: one a line, `key` or `key TAB size`. The file is mapped, and
    /// searched by bisection where it is in the order of the keys' bytes; where it is not, an index
    /// of eight bytes a key is made. A key that stands there twice is an error.
    KeyFile {
        /// The file.
        path: PathBuf,
        /// The bucket that shows the keys.
        bucket: String,
    },
    /// Read-only, keys from a formula, which takes no memory: `KIND:COUNT[:SEED][:size=BYTES]`,
    /// such as `uuid:1_000_000_000:7:size=4096`. The kinds:
    ///
    /// | kind | keys |
    /// |---|---|
    /// | `seq` | `key-000000000042`: padded numbers |
    /// | `hex` | 16 hex digits, spread evenly, each at a random place of its step |
    /// | `uuid` | UUIDs, spread evenly in the same way |
    /// | `dates` | `2015/01/31/object-000000042.dat`: a folder a day for ten years, equally full |
    /// | `deep` | `d0000/e000/f000/file-042.bin`: a thousand keys or folders in each folder |
    Synthetic {
        /// The formula.
        spec: String,
        /// The bucket that shows the keys.
        bucket: String,
    },
}

/// Limits against broken and hostile clients.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Most bytes of a request's line and headers.
    pub header_bytes_max: usize,
    /// Longest time for a request's line and headers to arrive, counted from the end of the
    /// request before: also the time an idle connection is kept.
    pub header_timeout: Duration,
    /// Longest wait for the next 4 KiB of a request's body.
    pub body_timeout: Duration,
    /// Longest wait for a client to take more of an answer.
    pub answer_timeout: Duration,
    /// Most bytes of a request's body (S3: 5 GiB and some framing).
    pub body_bytes_max: u64,
    /// Most connections at once.
    pub connections_max: usize,
    /// Least size of a part that is not the last (S3: 5 MiB). Smaller for tests.
    pub part_bytes_min: u64,
    /// Most bytes that `CopyObject` copies (S3: 5 GiB). Smaller for tests.
    pub copy_bytes_max: u64,
    /// Time that the restore of an archived object takes (S3: minutes to days).
    pub restore_time: Duration,
    /// Most completed multipart uploads whose answer is remembered for a request that is repeated
    /// (as S3 does); none for servers that answer `NoSuchUpload` then.
    pub completions_kept: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_bytes_max: 64 * 1024,
            // Connections without requests must not block others for long.
            header_timeout: Duration::from_secs(20),
            body_timeout: Duration::from_mins(1),
            // Clients that limit their bandwidth rest for long.
            answer_timeout: Duration::from_mins(5),
            body_bytes_max: 6 << 30,
            connections_max: 4096,
            part_bytes_min: 5 << 20,
            copy_bytes_max: 5 << 30,
            restore_time: Duration::from_secs(1),
            completions_kept: 1000,
        }
    }
}

/// What the listings of servers other than S3 do differently.
#[derive(Debug, Clone, Default)]
pub struct ListQuirks {
    /// `ListObjectsV2` does not know `start-after`.
    pub ignores_start_after: bool,
    /// `ListObjectsV2` is not known: `list-type=2` and what belongs to it are ignored, and the
    /// answer is that of `ListObjects`.
    pub only_v1: bool,
    /// `/` sorts before all other characters, and a folder is left out where the client starts
    /// after the folder's name. Each page reads the whole bucket: for small stores.
    pub folders_first: bool,
    /// Most entries of a page, whatever was asked for; more may follow.
    pub page_entries_max: Option<usize>,
    /// Before each page of `ListObjectsV2` comes an empty one, whose token leads on.
    pub empty_pages: bool,
}

/// All settings of a simulator.
#[derive(Debug, Clone)]
pub struct SimConfig {
    /// Where objects live.
    pub store: StoreKind,
    /// The server's region.
    pub region: String,
    /// Keys that may sign; empty means the default pair (loopback only).
    pub access_keys: Vec<AccessKey>,
    /// Whether unsigned requests are served.
    pub allow_anonymous: bool,
    /// Buckets to create at the start, where they are missing.
    pub buckets: Vec<String>,
    /// How far the server's clock is ahead, in milliseconds.
    pub clock_offset_ms: i64,
    /// Whether the server's clock follows tokio's, which tests can pause.
    pub virtual_clock: bool,
    /// Records that the ledger keeps; 0 disables it (counts remain).
    pub ledger_records: usize,
    /// File that gets every record as a line of JSON.
    pub ledger_file: Option<PathBuf>,
    /// Latency of every answer.
    pub latency: Duration,
    /// TLS for connections over TCP.
    pub tls: Option<TlsFiles>,
    /// Limits.
    pub limits: Limits,
    /// What listings do differently from S3.
    pub list_quirks: ListQuirks,
    /// Random weather.
    pub scenario: Option<Scenario>,
}

impl Default for SimConfig {
    fn default() -> Self {
        Self {
            store: StoreKind::Memory,
            region: "us-east-1".to_owned(),
            access_keys: Vec::new(),
            allow_anonymous: false,
            buckets: Vec::new(),
            clock_offset_ms: 0,
            virtual_clock: false,
            ledger_records: crate::ledger::LEDGER_RECORDS_DEFAULT,
            ledger_file: None,
            latency: Duration::ZERO,
            tls: None,
            limits: Limits::default(),
            list_quirks: ListQuirks::default(),
            scenario: None,
        }
    }
}
