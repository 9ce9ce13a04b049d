//! `cp`, `mv`, `sync` and `rm`.

use clap::Args;

use super::{
    AsOfArgs, ConditionArgs, CustomerKeyArgs, FilterArgs, FromArgs, JournalArgs, ObjectArgs,
    ObjectsArgs, OutputArgs, PrintJobArgs, RemovalGuardArgs, RemovedVersionsArgs, ReportArgs,
    RequestArgs, Secret, SidesArgs, as_source_class,
};

/// Scripts and templates of `cp` and `mv`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ScriptArgs {
    /// Transfer only files or objects for which this JavaScript function returns true: `js:(key,
    /// object) => …`.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) filter: Option<String>,
    /// Name each file or object at the target with a JavaScript function,
    /// `js:(key, object) => key + '.old'`, or with a template of {key} {dir} {name} {stem} {ext}
    /// {year} {month} {day}. The function receives the key that the object would otherwise have in
    /// the target bucket, or the name of the file below the target folder.
    #[arg(long, value_name = "SCRIPT or TEMPLATE")]
    pub(crate) to_key: Option<String>,
}

/// Flags that `cp`, `mv` and `sync` share.
#[derive(Clone, Debug, Default, Args)]
#[command(mut_arg("storage_classes", as_source_class))]
pub(crate) struct CopyArgs {
    /// What to copy and where to: a local path, an s3:// address, or - for a standard stream (cp
    /// only).
    #[arg(num_args = 2, required = true, value_names = ["SOURCE", "TARGET"])]
    pub(crate) paths: Vec<String>,
    /// Only print what would be done.
    #[arg(long)]
    pub(crate) dryrun: bool,
    /// Never replace a file or object that exists.
    #[arg(long)]
    pub(crate) no_overwrite: bool,
    /// Treat * and ? in s3:// addresses literally, not as patterns.
    #[arg(long)]
    pub(crate) raw: bool,
    /// Filters.
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    /// Conditions.
    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,
    /// Follow symbolic links in uploads, which is the default.
    #[arg(long, overrides_with = "no_follow_symlinks")]
    pub(crate) follow_symlinks: bool,
    /// Skip symbolic links in uploads.
    #[arg(long)]
    pub(crate) no_follow_symlinks: bool,
    /// Requests.
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
    /// Try to transfer objects of the Glacier archive classes too, instead of skipping them with a
    /// warning.
    #[arg(long)]
    pub(crate) force_glacier_transfer: bool,
    /// Skip objects of the Glacier archive classes without a warning.
    #[arg(long)]
    pub(crate) ignore_glacier_warnings: bool,
    /// Verify downloads against the checksum stored in S3, which is the default, even if the
    /// profile says `response_checksum_validation = when_required`.
    #[arg(long, value_name = "MODE", value_parser = ["ENABLED"])]
    pub(crate) checksum_mode: Option<String>,
    /// In copies from S3 to S3, keep the metadata of the source object (COPY) or replace it with
    /// what the flags set (REPLACE).
    #[arg(long, value_name = "DIRECTIVE", value_parser = ["COPY", "REPLACE"])]
    pub(crate) metadata_directive: Option<String>,
    /// What a copy from S3 to S3 carries over: nothing (none), metadata (metadata-directive), or
    /// metadata and tags (default). Annotations (all) are not supported yet.
    #[arg(long, value_name = "WHAT")]
    #[arg(value_parser = ["none", "metadata-directive", "default", "all"])]
    pub(crate) copy_props: Option<String>,
    /// Keep modification time, mode and owner of uploaded files in the metadata of the objects, and
    /// give downloaded files the time and the permissions (not the owner) that are found there.
    /// Names and forms are those of rclone: mtime, mode, uid and gid. A sync compares these times,
    /// which takes a request for every object that has the size of its file.
    #[arg(long)]
    pub(crate) preserve: bool,
    /// What to do when several objects are downloaded and the name of one differs only by case from
    /// a file that exists or from one that is being downloaded: nothing (ignore, the default),
    /// leave it out with a warning (skip), download it with a warning (warn), or end with an error
    /// (error).
    #[arg(long, value_name = "HOW", value_parser = ["ignore", "skip", "warn", "error"])]
    pub(crate) case_conflict: Option<String>,
    /// Print a progress line at most once in this many seconds, even without a terminal.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) progress_frequency: Option<u64>,
    /// Print each progress update on a line of its own, even without a terminal.
    #[arg(long)]
    pub(crate) progress_multiline: bool,
    /// Printing.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Reports.
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// Journal.
    #[command(flatten)]
    pub(crate) journal: JournalArgs,
    /// Properties.
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    /// Encryption.
    #[command(flatten)]
    pub(crate) customer_key: CustomerKeyArgs,
    /// Decrypt the source of a copy with the key of --sse-c-copy-source-key. AES256 is the only
    /// method.
    #[arg(long, num_args = 0..=1, default_missing_value = "AES256", value_name = "METHOD")]
    #[arg(value_parser = ["AES256"], help_heading = "Encryption with your own key")]
    pub(crate) sse_c_copy_source: Option<String>,
    /// The key for --sse-c-copy-source.
    #[arg(long, value_name = "KEY", help_heading = "Encryption with your own key")]
    pub(crate) sse_c_copy_source_key: Option<Secret>,
    /// Send the data of copies through this machine even where the server could copy it. This
    /// happens by default where source and target have different endpoints or credentials.
    #[arg(long, help_heading = "Two services, accounts or regions")]
    pub(crate) stream: bool,
    /// Two places.
    #[command(flatten)]
    pub(crate) sides: SidesArgs,
    /// The job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// Copies files to S3, objects to files, or objects to objects.
#[derive(Clone, Debug, Default, Args)]
#[command(override_usage = "s3haul cp [OPTIONS] <LocalPath> <S3Uri>\n       \
    s3haul cp [OPTIONS] <S3Uri> <LocalPath>\n       s3haul cp [OPTIONS] <S3Uri> <S3Uri>")]
pub(crate) struct CpArgs {
    /// Flags shared with `mv`.
    #[command(flatten)]
    pub(crate) copy: CopyArgs,
    /// Scripts.
    #[command(flatten)]
    pub(crate) scripts: ScriptArgs,
    /// Objects from a file.
    #[command(flatten)]
    pub(crate) from: FromArgs,
    /// Copy all files or objects under the source.
    #[arg(long)]
    pub(crate) recursive: bool,
    /// The size in bytes that standard input will have; needed only for more than 78 GiB.
    #[arg(long, value_name = "BYTES")]
    pub(crate) expected_size: Option<u64>,
    /// Versions.
    #[command(flatten)]
    pub(crate) as_of: AsOfArgs,
}

/// Moves files to S3, objects to files, or objects to objects. Each source is removed once its
/// target is safe.
#[derive(Clone, Debug, Default, Args)]
#[command(override_usage = "s3haul mv [OPTIONS] <LocalPath> <S3Uri>\n       \
    s3haul mv [OPTIONS] <S3Uri> <LocalPath>\n       s3haul mv [OPTIONS] <S3Uri> <S3Uri>")]
pub(crate) struct MvArgs {
    /// Flags shared with `cp`.
    #[command(flatten)]
    pub(crate) copy: CopyArgs,
    /// Scripts.
    #[command(flatten)]
    pub(crate) scripts: ScriptArgs,
    /// Objects from a file.
    #[command(flatten)]
    pub(crate) from: FromArgs,
    /// Move all files or objects under the source.
    #[arg(long)]
    pub(crate) recursive: bool,
    /// Refuse to move between access points that may name the same bucket.
    #[arg(long)]
    pub(crate) validate_same_s3_paths: bool,
}

/// Copies what differs from one folder or prefix to another.
#[derive(Clone, Debug, Default, Args)]
#[command(override_usage = "s3haul sync [OPTIONS] <LocalPath> <S3Uri>\n       \
    s3haul sync [OPTIONS] <S3Uri> <LocalPath>\n       s3haul sync [OPTIONS] <S3Uri> <S3Uri>")]
pub(crate) struct SyncArgs {
    /// Flags shared with `cp`.
    #[command(flatten)]
    pub(crate) copy: CopyArgs,
    /// Remove from the target what the source does not have. If the listing of the source fails, no
    /// name after the failure is removed; neither is anything that could not be read.
    #[arg(long)]
    pub(crate) delete: bool,
    /// Compare sizes only.
    #[arg(long, visible_alias = "if-size-differ")]
    pub(crate) size_only: bool,
    /// Download whenever the times differ, not only when the local file is the newer one.
    #[arg(long)]
    pub(crate) exact_timestamps: bool,
    /// Transfer what is newer in the source, in downloads too. Without this flag, an object of the
    /// same size is downloaded only if the local file is newer than the object, as in `aws s3
    /// sync`.
    #[arg(long)]
    pub(crate) newer: bool,
    /// Where sizes are equal, compare content instead of times: by stored checksums and `ETag`s, or
    /// by reading the data where these are not enough.
    #[arg(long, conflicts_with_all = ["size_only", "exact_timestamps", "newer"])]
    pub(crate) checksum: bool,
    /// Consider only what this JavaScript function selects: `js:(object) => …`, or `js:/…/` for
    /// keys that match. What it does not select is neither transferred nor removed. The same holds
    /// for other conditions: a name whose source does not meet them stays as it is, and --delete
    /// removes only what meets them itself.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) filter: Option<String>,
    /// Name each file or object at the target with a JavaScript function or a template, as in cp.
    /// Each new name is then looked up by a request of its own, or on disk, instead of listing the
    /// target.
    #[arg(long, value_name = "SCRIPT or TEMPLATE", conflicts_with = "delete")]
    pub(crate) to_key: Option<String>,
    /// Remove at most this many names; leave the rest and fail. With %, remove nothing if this
    /// share of the names in the target would be exceeded; removals then begin when the whole
    /// target has been listed.
    // Clap drops what an argument requires where that conflicts with another one.
    #[arg(long, value_name = "NUMBER|PERCENT%", requires = "delete", conflicts_with = "to_key")]
    pub(crate) max_delete: Option<String>,
    /// Allow an empty source, which removes everything from the target.
    #[arg(long, requires = "delete", conflicts_with = "to_key")]
    pub(crate) allow_empty_source: bool,
    /// Versions.
    #[command(flatten)]
    pub(crate) as_of: AsOfArgs,
}

/// Removes objects. Without --recursive the one named; it is no error if there is none.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RmArgs {
    /// What to remove.
    #[command(flatten)]
    pub(crate) objects: ObjectsArgs,
    /// Guards.
    #[command(flatten)]
    pub(crate) guard: RemovalGuardArgs,
    /// Versions.
    #[command(flatten)]
    pub(crate) versions: RemovedVersionsArgs,
}
