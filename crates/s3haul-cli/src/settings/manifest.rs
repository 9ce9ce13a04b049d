//! `--from`: where the objects are named.

use std::path::PathBuf;

use s3haul::job::value::{ManifestFile, ManifestFormat, Reports};
use s3haul::job::{TransferCommand, TransferSpec};
use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;

use super::report::is_same;
use crate::failure::Failure;

/// A manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ManifestSettings {
    /// Where it is.
    pub(crate) place: ManifestPlace,
    /// What it is said to be written in.
    pub(crate) format: Option<ManifestFormat>,
    /// The bucket of the command, or nothing.
    pub(crate) bucket: String,
    /// The actions that a report of a dry run may have; none: all.
    pub(crate) dry_run_of: DryRunOf,
}

/// Actions of a report of a dry run, of which nothing was done.
pub(crate) type DryRunOf = Option<&'static [&'static str]>;

/// Where a manifest is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ManifestPlace {
    /// On standard input.
    Input,
    /// In a file.
    File(PathBuf),
    /// In an object.
    Object(ObjectName),
}

impl ManifestSettings {
    /// Checks what a job says.
    pub(super) fn new(
        manifest: Option<&ManifestFile>,
        reports: &Reports,
        spec: &TransferSpec,
    ) -> Result<Option<Self>, Failure> {
        let Some(ManifestFile { file, format }) = manifest else { return Ok(None) };
        if !s3_uri::is_s3(&spec.source) {
            return Err(Failure::usage(format!(
                "--from names objects of S3, and the source `{}` is not there",
                spec.source
            )));
        }
        let place = match file.as_str() {
            "" => return Err(Failure::usage("--from names no file")),
            "-" => ManifestPlace::Input,
            address if s3_uri::is_s3(address) => ManifestPlace::Object(object(address)?),
            path => ManifestPlace::File(spec.working_dir.join(path)),
        };
        let target = reports.report.as_deref().map(|path| spec.working_dir.join(path));
        if let (Some(report), ManifestPlace::File(path)) = (&target, &place)
            && is_same(path, report)
        {
            return Err(Failure::usage(
                "--report would overwrite the file of --from: give it another one",
            ));
        }
        let bucket = s3_uri::parse(&spec.source).map(|name| name.bucket).unwrap_or_default();
        // What was not copied is not to be removed.
        let dry_run_of: DryRunOf = match spec.command {
            TransferCommand::Remove => Some(&["delete"]),
            TransferCommand::Move => Some(&["copy", "download"]),
            _ => None,
        };
        Ok(Some(Self { place, format: *format, bucket, dry_run_of }))
    }
}

fn object(address: &str) -> Result<ObjectName, Failure> {
    let object = s3_uri::parse(address).map_err(|error| Failure::usage(error.to_string()))?;
    if object.bucket.is_empty() || object.key.is_empty() {
        return Err(Failure::usage(format!("--from {address} names no object")));
    }
    Ok(object)
}
