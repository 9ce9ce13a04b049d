//! What a scenario file may say, and what is refused.

use std::path::Path;

use serde::Deserialize;

/// Names that stand for several operations.
const CLASSES: [&str; 5] = ["any", "read", "write", "list", "delete"];

/// Operations that a rule may name.
const OPERATIONS: [&str; 21] = [
    "AbortMultipartUpload",
    "CompleteMultipartUpload",
    "CopyObject",
    "CreateMultipartUpload",
    "DeleteObject",
    "DeleteObjectTagging",
    "DeleteObjects",
    "GetObject",
    "GetObjectAttributes",
    "GetObjectTagging",
    "HeadBucket",
    "HeadObject",
    "ListBuckets",
    "ListMultipartUploads",
    "ListObjectVersions",
    "ListObjects",
    "ListObjectsV2",
    "PutObject",
    "PutObjectTagging",
    "UploadPart",
    "UploadPartCopy",
];

/// Why a scenario is refused.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("the weather cannot be read: {0}")]
    Read(#[source] std::io::Error),
    /// It is no scenario.
    #[error("the weather is not a scenario: {0}")]
    Form(#[from] serde_json::Error),
    /// A setting makes no sense.
    #[error("the weather's `{setting}` {problem}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

/// How long answers take: a log-normal distribution and now and then much longer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Latency {
    /// Half of the answers come within this time.
    pub median_ms: f64,
    /// Spread: the standard deviation of the time's natural logarithm.
    pub sigma: f64,
    /// Probability that an answer is of the tail.
    pub tail_probability: f64,
    /// How many times later an answer of the tail comes.
    pub tail_factor: f64,
    /// The longest time; 0 for none.
    pub max_ms: f64,
}

/// How fast bytes go, each way; 0 is no limit.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bandwidth {
    /// Bytes a second of one connection.
    pub connection_bytes_per_s: u64,
    /// Bytes a second of all connections.
    pub total_bytes_per_s: u64,
}

/// Limits of the rate of requests for a range of keys, as S3 has them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Partitions {
    /// PUT, COPY, POST and DELETE a second.
    pub writes_per_s: f64,
    /// GET, HEAD and LIST a second.
    pub reads_per_s: f64,
    /// A partition that had to refuse something for so long splits in two; 0 for never.
    pub split_after_s: f64,
    /// Most partitions.
    pub partitions_max: usize,
}

impl Default for Partitions {
    fn default() -> Self {
        Self { writes_per_s: 3500.0, reads_per_s: 5500.0, split_after_s: 60.0, partitions_max: 64 }
    }
}

/// Two states that take turns; in the rough one faults are more likely.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bursts {
    /// Mean length of the calm.
    pub calm_s: f64,
    /// Mean length of a burst.
    pub rough_s: f64,
    /// How many times more likely faults are in a burst.
    pub factor: f64,
}

impl Default for Bursts {
    fn default() -> Self {
        Self { calm_s: 30.0, rough_s: 3.0, factor: 10.0 }
    }
}

/// Oddities of the pages of `ListObjectsV2`; none changes what all pages together say.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListingWeather {
    /// Probability of a page without entries whose token leads on.
    pub empty_page: f64,
    /// Probability of a page with fewer entries than there is room for.
    pub short_page: f64,
    /// Probability of a page that begins with the last key of the page before.
    pub repeated_key: f64,
}

/// What may happen to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// `503 SlowDown`.
    SlowDown,
    /// `500 InternalError`.
    InternalError,
    /// Any error: `status` and `code`.
    Respond,
    /// Status 200 with an `InternalError` in the body.
    OkWithError,
    /// `404 NoSuchKey` for a key that is there.
    NotFound,
    /// `412 PreconditionFailed` for a request with a condition: as if the object had changed.
    Changed,
    /// A reset before anything is read.
    ResetBefore,
    /// A reset in the middle of the request's body.
    ResetRequest,
    /// The request is carried out and its answer is lost.
    LostResponse,
    /// A reset in the middle of the answer's body.
    ResetBody,
    /// The connection is closed in order in the middle of the answer's body.
    Truncate,
    /// A bit of an object's body is turned over.
    Corrupt,
    /// No answer, ever.
    Stall,
    /// A pause between the head and the first byte of the body.
    SlowFirstByte,
    /// A pause in the middle of the answer's body.
    PauseBody,
}

impl FaultKind {
    /// Its name in a scenario file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SlowDown => "slow_down",
            Self::InternalError => "internal_error",
            Self::Respond => "respond",
            Self::OkWithError => "ok_with_error",
            Self::NotFound => "not_found",
            Self::Changed => "changed",
            Self::ResetBefore => "reset_before",
            Self::ResetRequest => "reset_request",
            Self::LostResponse => "lost_response",
            Self::ResetBody => "reset_body",
            Self::Truncate => "truncate",
            Self::Corrupt => "corrupt",
            Self::Stall => "stall",
            Self::SlowFirstByte => "slow_first_byte",
            Self::PauseBody => "pause_body",
        }
    }
}

/// A fault, and how often which requests get it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// What happens.
    pub fault: FaultKind,
    /// Operations of S3, or `any`, `read`, `write`, `list`, `delete`.
    #[serde(default = "any")]
    pub requests: Vec<String>,
    /// How likely it is.
    pub probability: f64,
    /// Faults within a body happen before this byte.
    #[serde(default = "default_bytes_max")]
    pub bytes_max: u64,
    /// Longest pause.
    #[serde(default = "default_pause_ms_max")]
    pub pause_ms_max: u64,
    /// Status of `respond`.
    #[serde(default)]
    pub status: u16,
    /// Code of `respond`.
    #[serde(default)]
    pub code: String,
}

fn any() -> Vec<String> {
    vec!["any".to_owned()]
}

fn default_bytes_max() -> u64 {
    1 << 20
}

fn default_pause_ms_max() -> u64 {
    5_000
}

impl FaultRule {
    /// A fault of any request.
    pub fn new(fault: FaultKind, probability: f64) -> Self {
        Self {
            fault,
            requests: any(),
            probability,
            bytes_max: default_bytes_max(),
            pause_ms_max: default_pause_ms_max(),
            status: 0,
            code: String::new(),
        }
    }

    /// Only of these operations or classes.
    #[must_use]
    pub fn of(mut self, requests: &[&str]) -> Self {
        self.requests = requests.iter().map(|&name| name.to_owned()).collect();
        self
    }

    fn check(&self) -> Result<(), ScenarioError> {
        is_probability("faults.probability", self.probability)?;
        let is_known = |name: &&str| CLASSES.contains(name) || OPERATIONS.contains(name);
        if let Some(name) = self.requests.iter().map(String::as_str).find(|name| !is_known(name)) {
            return refuse("faults.requests", format!("names `{name}`, which is no operation"));
        }
        if self.requests.is_empty() {
            return refuse("faults.requests", "is empty".to_owned());
        }
        let responds = self.fault == FaultKind::Respond;
        if responds != (self.status != 0) || responds == self.code.is_empty() {
            return refuse("faults", "needs `status` and `code` with `respond`, only".to_owned());
        }
        if responds && !(300..=599).contains(&self.status) {
            return refuse("faults.status", format!("is {}, no error", self.status));
        }
        Ok(())
    }
}

/// Everything that a scenario file may say. What is left out does not happen.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// For the reader of the file.
    pub about: String,
    /// What all is drawn from.
    pub seed: u64,
    /// How long answers take.
    pub latency: Latency,
    /// How fast bytes go.
    pub bandwidth: Bandwidth,
    /// Limits of the rate of requests.
    pub partitions: Option<Partitions>,
    /// When faults are more likely.
    pub bursts: Option<Bursts>,
    /// Faults.
    pub faults: Vec<FaultRule>,
    /// So many faults in a row meet the same request; the next one passes.
    pub in_a_row_max: u32,
    /// Oddities of listings.
    pub listing: ListingWeather,
    /// Connections without a request for so long are closed; 0 for the server's own limit.
    pub idle_close_ms: u64,
    /// How far the server's clock is ahead.
    pub clock_skew_ms: i64,
    /// Credentials are called expired so long after their first use; 0 for never.
    pub credentials_expire_ms: u64,
    /// Probability that a connection never says `100 Continue`.
    pub no_continue: f64,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            about: String::new(),
            seed: 1,
            latency: Latency::default(),
            bandwidth: Bandwidth::default(),
            partitions: None,
            bursts: None,
            faults: Vec::new(),
            in_a_row_max: 3,
            listing: ListingWeather::default(),
            idle_close_ms: 0,
            clock_skew_ms: 0,
            credentials_expire_ms: 0,
            no_continue: 0.0,
        }
    }
}

impl Scenario {
    /// Reads a scenario from a file.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        Self::parse(&std::fs::read_to_string(path).map_err(ScenarioError::Read)?)
    }

    /// Reads a scenario from JSON.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = serde_json::from_str(text)?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Refuses what makes no sense.
    fn check(&self) -> Result<(), ScenarioError> {
        let latency = &self.latency;
        is_amount("latency.median_ms", latency.median_ms)?;
        is_amount("latency.sigma", latency.sigma)?;
        is_amount("latency.tail_factor", latency.tail_factor)?;
        is_amount("latency.max_ms", latency.max_ms)?;
        is_probability("latency.tail_probability", latency.tail_probability)?;
        is_probability("listing.empty_page", self.listing.empty_page)?;
        is_probability("listing.short_page", self.listing.short_page)?;
        is_probability("listing.repeated_key", self.listing.repeated_key)?;
        is_probability("no_continue", self.no_continue)?;
        if let Some(partitions) = &self.partitions {
            is_positive("partitions.writes_per_s", partitions.writes_per_s)?;
            is_positive("partitions.reads_per_s", partitions.reads_per_s)?;
            is_amount("partitions.split_after_s", partitions.split_after_s)?;
            is_positive("partitions.partitions_max", f64::from(partitions.partitions_max > 0))?;
        }
        if let Some(bursts) = &self.bursts {
            is_positive("bursts.calm_s", bursts.calm_s)?;
            is_positive("bursts.rough_s", bursts.rough_s)?;
            is_amount("bursts.factor", bursts.factor)?;
        }
        self.faults.iter().try_for_each(FaultRule::check)
    }
}

fn refuse(setting: &'static str, problem: String) -> Result<(), ScenarioError> {
    Err(ScenarioError::Setting { setting, problem })
}

/// Greatest number that a time, rate or factor may be.
const AMOUNT_MAX: f64 = 1e12;

fn is_amount(setting: &'static str, value: f64) -> Result<(), ScenarioError> {
    if (0.0..=AMOUNT_MAX).contains(&value) {
        return Ok(());
    }
    refuse(setting, format!("is {value}: numbers from 0 to {AMOUNT_MAX} make sense"))
}

fn is_positive(setting: &'static str, value: f64) -> Result<(), ScenarioError> {
    if value > 0.0 && value <= AMOUNT_MAX {
        return Ok(());
    }
    refuse(setting, format!("is {value}: it has to be more than 0"))
}

fn is_probability(setting: &'static str, value: f64) -> Result<(), ScenarioError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    refuse(setting, format!("is {value}: probabilities go from 0 to 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_that_come_along_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let scenario = Scenario::read(&entry.unwrap().path()).unwrap();
            assert!(!scenario.about.is_empty());
            count += 1;
        }
        assert!(count >= 3);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for (text, word) in [
            (r#"{"latence": {}}"#, "latence"),
            (r#"{"faults": [{"fault": "rain", "probability": 1}]}"#, "rain"),
            (r#"{"faults": [{"fault": "stall", "probability": 2}]}"#, "probabilities"),
            (r#"{"faults": [{"fault": "respond", "probability": 1}]}"#, "`status`"),
            (r#"{"faults": [{"fault": "stall", "probability": 1, "status": 500}]}"#, "`status`"),
            (r#"{"faults": [{"fault": "stall", "probability": 1, "requests": ["GET"]}]}"#, "`GET`"),
            (r#"{"partitions": {"writes_per_s": 0}}"#, "writes_per_s"),
            (r#"{"latency": {"median_ms": -1}}"#, "median_ms"),
        ] {
            let error = Scenario::parse(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
        assert_eq!(Scenario::parse("{}").unwrap(), Scenario::default());
    }
}
