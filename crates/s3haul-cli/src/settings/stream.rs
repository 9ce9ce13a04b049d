//! `presign`, `cat` and `head`.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::settings::check::address;
use s3haul::job::SharedLimits;
use s3haul::job::value::{CatTask, HeadTask, PresignTask, PresignedHeaders, Task};
use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul::plan::wildcard::Wildcard;
use s3haul_wire::{ClientConfig, CustomerKey, ObjectProperties};

use super::frame::{Frame, Keys};
use super::object::customer_key;
use super::{JobRequest, Settings, shorthand};
use crate::args::{CatArgs, CustomerKeyArgs, HeadArgs, PresignArgs, PresignMethod};
use crate::failure::Failure;
use crate::settings::check::{invalid_argument_type, refuse_json};

/// Validity of a presigned URL where none is given.
const EXPIRES_IN_S: NonZeroU32 = NonZeroU32::new(3600).expect("it is not zero");
/// Longest validity of a presigned URL.
const PRESIGN_MAX: Duration = Duration::from_hours(7 * 24);

/// `presign`.
#[derive(Debug)]
pub(crate) struct PresignSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Object.
    pub(crate) object: ObjectName,
    /// Validity.
    pub(crate) expires_in: Duration,
    /// What the object will have, where the URL is for writing it.
    pub(crate) written: Option<ObjectProperties>,
    /// JSON output.
    pub(crate) json: bool,
}

impl JobRequest {
    /// For `presign`.
    pub(crate) fn presign(settings: &Settings, args: &PresignArgs) -> Result<Self, Failure> {
        let seconds = u32::try_from(args.expires_in).ok().and_then(NonZeroU32::new);
        let Some(seconds) = seconds else { return Err(too_long()) };
        let metadata = args.metadata.as_deref().map(|text| shorthand::map("--metadata", text));
        let metadata = metadata.transpose()?.map(|pairs| pairs.into_iter().collect());
        let headers = PresignedHeaders { content_type: args.content_type.clone(), metadata };
        let put = match args.method {
            PresignMethod::Put => Some(headers),
            PresignMethod::Get if headers == PresignedHeaders::default() => None,
            PresignMethod::Get => {
                let message = "--content-type and --metadata go with --method PUT";
                return Err(Failure::usage(message));
            }
        };
        let expires_in_s = Some(seconds).filter(|seconds| *seconds != EXPIRES_IN_S);
        let task = PresignTask { source: args.path.clone(), expires_in_s, put };
        Ok(Self::reading(settings, false, Task::Presign(task)))
    }

    /// For `cat`.
    pub(crate) fn cat(settings: &Settings, args: &CatArgs) -> Result<Self, Failure> {
        let task = CatTask {
            sources: args.paths.clone(),
            range: args.range.clone(),
            version_id: args.version_id.clone(),
            raw: args.raw,
        };
        let request = Self::reading(settings, args.payer.is_requester(), Task::Cat(task));
        Ok(Self { keys: key(&args.customer_key)?, ..request })
    }

    /// For `head`.
    pub(crate) fn head(settings: &Settings, args: &HeadArgs) -> Result<Self, Failure> {
        let task = HeadTask { source: args.path.clone(), version_id: args.version_id.clone() };
        let request = Self::reading(settings, args.payer.is_requester(), Task::Head(task));
        Ok(Self { keys: key(&args.customer_key)?, ..request })
    }
}

fn key(args: &CustomerKeyArgs) -> Result<Keys, Failure> {
    Ok(Keys { target: customer_key(args)?, source: None })
}

fn too_long() -> Failure {
    Failure::usage("--expires-in must be between 1 and 604800 seconds")
}

impl PresignSettings {
    /// For a job.
    pub(crate) fn of_job(frame: Frame, task: &PresignTask) -> Result<Self, Failure> {
        let seconds = task.expires_in_s.unwrap_or(EXPIRES_IN_S).get();
        let expires_in = Duration::from_secs(seconds.into());
        if expires_in > PRESIGN_MAX {
            return Err(too_long());
        }
        let object = object_name(&task.source, "presign")?;
        let written = task.put.clone().map(|PresignedHeaders { content_type, metadata }| {
            let metadata = metadata.map(|map| map.into_iter().collect());
            ObjectProperties { content_type, metadata, ..ObjectProperties::default() }
        });
        let json = frame.output.json;
        Ok(Self { client: frame.client, object, expires_in, written, json })
    }
}

/// Bytes of an object that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CatRange {
    /// From here to the end.
    From(u64),
    /// From the first to the last, both included.
    Between(u64, u64),
    /// So many at the end.
    Last(u64),
}

impl CatRange {
    fn parse(text: &str) -> Result<Self, Failure> {
        let invalid =
            || Failure::usage(format!("Invalid range `{text}`: use START-END, START- or -LENGTH"));
        let number = |text: &str| text.parse::<u64>().map_err(|_| invalid());
        let text = text.strip_prefix("bytes=").unwrap_or(text);
        match text.split_once('-').ok_or_else(invalid)? {
            ("", length) => Ok(Self::Last(number(length)?)),
            (start, "") => match number(start)? {
                u64::MAX => Err(invalid()),
                start => Ok(Self::From(start)),
            },
            (start, end) => match (number(start)?, number(end)?) {
                (start, end) if start <= end && end < u64::MAX => Ok(Self::Between(start, end)),
                _ => Err(invalid()),
            },
        }
    }
}

/// `cat`.
#[derive(Debug)]
pub(crate) struct CatSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Objects or patterns.
    pub(crate) objects: Vec<ObjectName>,
    /// Bytes of each.
    pub(crate) range: Option<CatRange>,
    /// Version of the only object.
    pub(crate) version_id: Option<String>,
    /// How fast they come.
    pub(crate) limits: SharedLimits,
    /// Wildcards are plain characters.
    pub(crate) raw: bool,
    /// SSE-C key.
    pub(crate) customer_key: Option<CustomerKey>,
}

impl CatSettings {
    /// For a job.
    pub(crate) fn of_job(frame: Frame, task: &CatTask) -> Result<Self, Failure> {
        if frame.output.json {
            return Err(refuse_json());
        }
        if task.sources.is_empty() {
            return Err(invalid_argument_type("cat", "<S3Uri>..."));
        }
        let objects = task.sources.iter().map(|path| {
            if s3_uri::is_s3(path) {
                object_name(path, "cat")
            } else {
                Err(invalid_argument_type("cat", "<S3Uri>..."))
            }
        });
        let objects = objects.collect::<Result<Vec<_>, _>>()?;
        let is_pattern = |object: &ObjectName| !task.raw && Wildcard::parse(&object.key).is_some();
        if task.version_id.is_some() && (objects.len() > 1 || objects.iter().any(is_pattern)) {
            return Err(Failure::usage("--version-id is for a single object"));
        }
        Ok(Self {
            objects,
            version_id: task.version_id.clone(),
            range: task.range.as_deref().map(CatRange::parse).transpose()?,
            limits: SharedLimits::new(&frame.tuning),
            client: frame.client,
            raw: task.raw,
            customer_key: frame.keys.target,
        })
    }
}

/// `head`.
#[derive(Debug)]
pub(crate) struct HeadSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Object, or a bucket where the key is empty.
    pub(crate) object: ObjectName,
    /// Version.
    pub(crate) version_id: Option<String>,
    /// SSE-C key.
    pub(crate) customer_key: Option<CustomerKey>,
    /// JSON output.
    pub(crate) json: bool,
}

impl HeadSettings {
    /// For a job.
    pub(crate) fn of_job(frame: Frame, task: &HeadTask) -> Result<Self, Failure> {
        let object = address(&task.source)?;
        if object.bucket.is_empty() {
            return Err(invalid_argument_type("head", "<S3Uri>"));
        }
        Ok(Self {
            client: frame.client,
            object,
            version_id: task.version_id.clone(),
            customer_key: frame.keys.target,
            json: frame.output.json,
        })
    }
}

fn object_name(path: &str, command: &str) -> Result<ObjectName, Failure> {
    let name = address(path)?;
    if name.bucket.is_empty() || name.key.is_empty() {
        return Err(invalid_argument_type(command, "<S3Uri>"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_start_end_from_or_last() {
        assert_eq!(CatRange::parse("0-9").unwrap(), CatRange::Between(0, 9));
        assert_eq!(CatRange::parse("bytes=5-").unwrap(), CatRange::From(5));
        assert_eq!(CatRange::parse("-5").unwrap(), CatRange::Last(5));
        for text in ["", "-", "9-0", "a-b", "5", "18446744073709551615-"] {
            assert!(CatRange::parse(text).is_err(), "{text}");
        }
    }
}
