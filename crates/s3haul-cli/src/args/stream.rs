//! `presign`, `cat`, `head` and `pipe`.

use clap::{Args, ValueEnum};

use super::{CustomerKeyArgs, ObjectArgs, PayerArgs, PrintJobArgs};

/// What a presigned URL allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
pub(crate) enum PresignMethod {
    /// Reading the object.
    #[default]
    Get,
    /// Writing it.
    Put,
}

/// Prints a URL with which anyone can read or write an object for a while.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PresignArgs {
    /// The object. The s3:// may be left out.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// How many seconds the URL is valid: 604800 (7 days) at most.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub(crate) expires_in: u64,
    /// Let the URL read the object (GET) or write it (PUT).
    #[arg(long, value_enum, value_name = "METHOD", default_value_t, ignore_case = true)]
    pub(crate) method: PresignMethod,
    /// With --method PUT, demand that the object is written with this Content-Type.
    #[arg(long, value_name = "TYPE")]
    pub(crate) content_type: Option<String>,
    /// With --method PUT, demand that the object is written with this metadata, as
    /// name=value,name2=value2 or as a JSON object.
    #[arg(long, value_name = "MAP")]
    pub(crate) metadata: Option<String>,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// Writes objects to standard output, one after the other.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CatArgs {
    /// The objects. Addresses may hold * and ?, which match any characters.
    #[arg(value_name = "S3Uri", required = true)]
    pub(crate) paths: Vec<String>,
    /// Only these bytes of each object: START-END (END included), START- or -LENGTH (the last
    /// bytes). Of several objects, those that are too short are left out.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub(crate) range: Option<String>,
    /// Write this version. Needs a single object.
    #[arg(long, value_name = "ID")]
    pub(crate) version_id: Option<String>,
    /// Treat * and ? in addresses literally, not as patterns.
    #[arg(long)]
    pub(crate) raw: bool,
    /// Requester pays.
    #[command(flatten)]
    pub(crate) payer: PayerArgs,
    /// Encryption.
    #[command(flatten)]
    pub(crate) customer_key: CustomerKeyArgs,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// Shows what S3 knows of an object, or whether a bucket is there.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HeadArgs {
    /// The object or bucket.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Show this version of the object.
    #[arg(long, value_name = "ID")]
    pub(crate) version_id: Option<String>,
    /// Requester pays.
    #[command(flatten)]
    pub(crate) payer: PayerArgs,
    /// Encryption.
    #[command(flatten)]
    pub(crate) customer_key: CustomerKeyArgs,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// Writes standard input to an object.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PipeArgs {
    /// The object to write.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// The size in bytes that standard input will have; needed only for more than 78 GiB.
    #[arg(long, value_name = "BYTES")]
    pub(crate) expected_size: Option<u64>,
    /// Do not replace an object that exists.
    #[arg(long)]
    pub(crate) no_overwrite: bool,
    /// Print nothing at all; the exit status is the only result.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
    /// Requester pays.
    #[command(flatten)]
    pub(crate) payer: PayerArgs,
    /// Properties.
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    /// Encryption.
    #[command(flatten)]
    pub(crate) customer_key: CustomerKeyArgs,
}
