//! `presign`, `cat` and `head`.

use std::time::Duration;

use crate::settings::check::address;
use s3haul::job::SharedLimits;
use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul_wire::{ClientConfig, CustomerKey, ObjectProperties};

use super::object::customer_key;
use super::{Settings, shorthand};
use crate::args::{CatArgs, HeadArgs, PresignArgs, PresignMethod};
use crate::failure::Failure;
use crate::settings::check::{invalid_argument_type, refuse_json};

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

impl PresignSettings {
    /// From flags.
    pub(crate) fn new(settings: Settings, args: &PresignArgs) -> Result<Self, Failure> {
        let expires_in = Duration::from_secs(args.expires_in);
        if expires_in.is_zero() || expires_in > PRESIGN_MAX {
            return Err(Failure::usage("--expires-in must be between 1 and 604800 seconds"));
        }
        let object = object_name(&args.path, "presign")?;
        let metadata = args.metadata.as_deref().map(|text| shorthand::map("--metadata", text));
        let properties = ObjectProperties {
            content_type: args.content_type.clone(),
            metadata: metadata.transpose()?,
            ..ObjectProperties::default()
        };
        let written = match args.method {
            PresignMethod::Put => Some(properties),
            PresignMethod::Get if properties == ObjectProperties::default() => None,
            PresignMethod::Get => {
                let message = "--content-type and --metadata go with --method PUT";
                return Err(Failure::usage(message));
            }
        };
        let client = settings.client;
        Ok(Self { client, object, expires_in, written, json: settings.json })
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
            (start, "") => Ok(Self::From(number(start)?)),
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
    /// How fast they come.
    pub(crate) limits: SharedLimits,
    /// Wildcards are plain characters.
    pub(crate) raw: bool,
    /// SSE-C key.
    pub(crate) customer_key: Option<CustomerKey>,
}

impl CatSettings {
    /// From flags.
    pub(crate) fn new(settings: Settings, args: &CatArgs) -> Result<Self, Failure> {
        if settings.json {
            return Err(refuse_json());
        }
        let objects = args.paths.iter().map(|path| {
            if s3_uri::is_s3(path) {
                object_name(path, "cat")
            } else {
                Err(invalid_argument_type("cat", "<S3Uri>..."))
            }
        });
        let request_payer = args.payer.is_requester();
        Ok(Self {
            client: ClientConfig { request_payer, ..settings.client },
            objects: objects.collect::<Result<_, _>>()?,
            range: args.range.as_deref().map(CatRange::parse).transpose()?,
            limits: SharedLimits::new(&settings.tuning),
            raw: args.raw,
            customer_key: customer_key(&args.customer_key)?,
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
    /// From flags.
    pub(crate) fn new(settings: Settings, args: &HeadArgs) -> Result<Self, Failure> {
        let object = address(&args.path)?;
        if object.bucket.is_empty() {
            return Err(invalid_argument_type("head", "<S3Uri>"));
        }
        let request_payer = args.payer.is_requester();
        Ok(Self {
            client: ClientConfig { request_payer, ..settings.client },
            object,
            version_id: args.version_id.clone(),
            customer_key: customer_key(&args.customer_key)?,
            json: settings.json,
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
        for text in ["", "-", "9-0", "a-b", "5"] {
            assert!(CatRange::parse(text).is_err(), "{text}");
        }
    }
}
