//! From what was typed to what is meant, before anything is begun.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::case_conflict::CaseGuard;
use super::spec::{TransferCommand, TransferSpec};
use crate::engine::limits::blocking;
use crate::engine::settings::Settings;
use crate::entry::Root;
use crate::event::ActionKind;
use crate::fs::{FileInfo, FileKind};
use crate::plan::filter::Filter;
use crate::plan::paths::{
    Command, LocalFacts, PathArguments, PathError, PathErrorKind, PathPlan, Side, absolute,
    directory_text,
};
use crate::plan::s3_uri;
use crate::plan::versions::VersionRule;
use crate::plan::wildcard::Wildcard;
use crate::script::rename::{Chooser, Names, SharedChooser};
use s3haul_list::KeyRange;
use s3haul_wire::error::{Error, ErrorKind, Result};

/// A job whose arguments make sense.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) spec: TransferSpec,
    pub(crate) plan: PathPlan,
    /// How keys of the source become names.
    pub(crate) root: Arc<Root>,
    /// Applies to names of the source.
    pub(crate) filter: Arc<Filter>,
    /// Applies to names of the target.
    pub(crate) target_filter: Arc<Filter>,
    /// Pattern that keys of the source must match.
    pub(crate) wildcard: Option<Wildcard>,
    /// Scripts and templates, where there are any.
    pub(crate) chooser: Option<SharedChooser>,
    /// Checks for downloads whose names differ only by case, if the job has that option.
    pub(crate) case_guard: Option<Arc<CaseGuard>>,
}

impl Prepared {
    /// Works out what a job means. Buckets of one name in two services are two buckets.
    pub(crate) async fn new(spec: TransferSpec, is_one_service: bool) -> Result<Self> {
        blocking(move || Self::new_blocking(spec, is_one_service)).await
    }

    fn new_blocking(spec: TransferSpec, is_one_service: bool) -> Result<Self> {
        let (source, wildcard) = split_wildcard(&spec);
        let target = spec.target.as_deref();
        let paths = [Some(source.as_str()), target].into_iter().flatten();
        let directory = directory_text(&spec.working_dir, paths).map_err(path_error)?.into_owned();
        let arguments = PathArguments {
            command: match spec.command {
                TransferCommand::Copy => Command::Cp,
                TransferCommand::Move => Command::Mv,
                TransferCommand::Remove => Command::Rm,
                TransferCommand::Sync => Command::Sync,
                TransferCommand::Tag => Command::Tag,
                TransferCommand::Set => Command::Set,
                TransferCommand::Restore => Command::Restore,
                TransferCommand::Undelete => Command::Undelete,
            },
            source: &source,
            target,
            recursive: spec.recursive || wildcard.is_some() || spec.manifest.is_some(),
            may_meet: spec.to_key.is_some() || !is_one_service,
            working_directory: &directory,
            source_facts: facts(&source, &directory),
            target_facts: target.map_or_else(LocalFacts::default, |path| facts(path, &directory)),
        };
        let plan = PathPlan::new(&arguments).map_err(path_error)?;
        check_conditions(&spec, &plan)?;
        let filter = Arc::new(filter_of(&spec, &plan, &plan.source_path_prefix()));
        let target_filter = Arc::new(filter_of(&spec, &plan, &plan.target_path_prefix()));
        let chooser = chooser_of(&spec, &plan, is_one_service)?;
        let folder = plan
            .target_directory()
            .filter(|_| plan.is_directory && plan.action == ActionKind::Download);
        let case_guard =
            folder.and_then(|folder| CaseGuard::new(spec.case_conflict, folder, spec.dry_run));
        let root = Arc::new(root_of(&plan));
        Ok(Self { spec, plan, root, filter, target_filter, wildcard, chooser, case_guard })
    }

    /// Settings of the engine.
    pub(crate) fn settings(&self) -> Settings {
        let spec = &self.spec;
        let read_key = match self.plan.action {
            ActionKind::Download => spec.properties.customer_key.clone(),
            _ => None,
        };
        let part = spec.shard.as_ref().and_then(|shard| shard.part());
        let mut tuning = spec.tuning.clone();
        if let Some(part) = part {
            // Whatever is set on this machine: the parts of all have one size.
            tuning.multipart_chunksize = part.object.part_size;
            tuning.multipart_threshold = tuning.multipart_threshold.min(part.object.size);
            tuning.copy_threshold = tuning.copy_threshold.min(part.object.size);
        }
        Settings {
            is_dry_run: spec.dry_run,
            is_one: !self.plan.is_directory,
            is_move: spec.command == TransferCommand::Move,
            source_bucket: bucket_of(Some(&self.plan.source)),
            // `set` copies objects onto themselves.
            target_bucket: match self.plan.action {
                ActionKind::Set => bucket_of(Some(&self.plan.source)),
                _ => bucket_of(self.plan.target.as_ref()),
            },
            no_overwrite: spec.no_overwrite,
            guess_mime_type: spec.guess_mime_type,
            media_type_tables: spec.media_type_tables.clone(),
            properties: spec.properties.clone(),
            streams_copies: spec.streams_copies,
            preserves: spec.preserve,
            metadata_directive: spec.metadata_directive,
            copy_props: spec.copy_props,
            source_customer_key: spec.source_customer_key.clone().or(read_key),
            checksum_algorithm: spec.checksum_algorithm,
            checksum_mode: spec.checksum_mode,
            tags: spec.tags.clone(),
            change: spec.change.clone(),
            restore: spec.restore,
            versions: spec.versions,
            is_undelete: spec.command == TransferCommand::Undelete,
            bypass_governance: spec.bypass_governance,
            journals: (spec.journal.iter().map(|journal| journal.folder().to_owned()))
                .chain(spec.journal_folder.clone())
                .collect(),
            portion: part.map(|part| Arc::clone(&part.portion)),
            tuning,
        }
    }

    /// Whether the objects themselves are changed and nothing is read of them or written elsewhere.
    pub(crate) fn acts_in_place(&self) -> bool {
        self.removes()
            || matches!(self.plan.action, ActionKind::Tag | ActionKind::Set | ActionKind::Restore)
    }

    /// Whether objects, versions or delete markers are removed where they are.
    pub(crate) fn removes(&self) -> bool {
        matches!(self.plan.action, ActionKind::Delete | ActionKind::Undelete)
    }

    /// Whether more than names decides what is taken.
    pub(crate) fn checks_facts(&self) -> bool {
        self.chooser.is_some() || self.spec.conditions.needs_facts()
    }

    /// Whether the command names one object or file, and nothing else is meant.
    pub(crate) fn names_one(&self) -> bool {
        let is_given = self.spec.names.is_some() || self.spec.manifest.is_some();
        !is_given && !self.plan.is_directory
    }

    /// Whether versions and delete markers are removed instead of objects.
    pub(crate) fn removes_versions(&self) -> bool {
        self.spec.versions.is_some_and(VersionRule::removes)
    }

    /// Whether removals follow the transfers, because their names are given instead of found.
    pub(crate) fn removes_named(&self) -> bool {
        self.spec.names.is_some()
            && self.spec.command == TransferCommand::Sync
            && self.spec.sync.delete
    }

    /// What of the source is meant, by its names or the numbers of its rows.
    pub(crate) fn range(&self) -> KeyRange {
        self.spec.shard.as_ref().map(|shard| shard.range().clone()).unwrap_or_default()
    }

    /// Key of the source: a prefix where a whole tree is meant.
    pub(crate) fn source_key(&self) -> &str {
        match &self.plan.source {
            Side::Object(name) => &name.key,
            _ => "",
        }
    }

    /// Name at the target for a relative name, before it is rewritten.
    pub(crate) fn target_name<'a>(&self, relative: &'a str) -> Cow<'a, str> {
        match self.plan.action {
            ActionKind::Upload | ActionKind::Copy => Cow::Owned(self.target_key(relative)),
            _ => Cow::Borrowed(relative),
        }
    }

    /// Whether a name below the target is that of an object of the source, where one of them lies
    /// inside of the other. Buckets of one name count as one also where the endpoints differ: these
    /// may lead to one server.
    pub(crate) fn is_of_source(&self, relative: &str) -> bool {
        let (Side::Object(source), Some(Side::Object(target))) =
            (&self.plan.source, &self.plan.target)
        else {
            return false;
        };
        let is_inside = match source.key.strip_prefix(&target.key) {
            Some("") => false,
            Some(below) => relative.starts_with(below),
            None => target.key.starts_with(&source.key),
        };
        source.bucket == target.bucket && is_inside
    }

    /// Key in the target bucket for a relative name.
    pub(crate) fn target_key(&self, relative: &str) -> String {
        match &self.plan.target {
            Some(Side::Object(name)) if self.plan.use_source_name => {
                let mut key = String::with_capacity(name.key.len() + relative.len());
                key.push_str(&name.key);
                key.push_str(relative);
                key
            }
            Some(Side::Object(name)) => name.key.clone(),
            _ => String::new(),
        }
    }
}

fn root_of(plan: &PathPlan) -> Root {
    let key = match &plan.source {
        Side::Object(name) => name.key.clone(),
        _ => String::new(),
    };
    if plan.is_directory {
        Root::Prefix(key)
    } else {
        Root::Key { key, name: plan.single_name().to_owned() }
    }
}

fn bucket_of(side: Option<&Side>) -> String {
    match side {
        Some(Side::Object(name)) => name.bucket.clone(),
        _ => String::new(),
    }
}

/// A source with wildcards is the tree below its last `/` before the first one, and a pattern.
fn split_wildcard(spec: &TransferSpec) -> (String, Option<Wildcard>) {
    let literal = || (spec.source.clone(), None);
    if spec.raw || !s3_uri::is_s3(&spec.source) {
        return literal();
    }
    let Ok(name) = s3_uri::parse(&spec.source) else { return literal() };
    let Some(first) = name.key.find(['*', '?']) else { return literal() };
    let root = name.key[..first].rfind('/').map_or("", |slash| &name.key[..=slash]);
    let is_tree = spec.recursive || spec.manifest.is_some();
    let wildcard =
        if is_tree { Wildcard::parse_tree(&name.key) } else { Wildcard::parse(&name.key) };
    (format!("{}{}/{root}", s3_uri::SCHEME, name.bucket), wildcard)
}

fn facts(path: &str, working_directory: &str) -> LocalFacts {
    if s3_uri::is_s3(path) || path == "-" {
        return LocalFacts::default();
    }
    let info = FileInfo::of_path(Path::new(&absolute(path, working_directory))).ok();
    // As it was given: `file/` and `nothing/../file` are not there for the system, either.
    let given = Path::new(working_directory).join(path);
    LocalFacts {
        exists: FileInfo::of_path(&given).is_ok(),
        is_directory: info.is_some_and(|info| info.kind == FileKind::Directory),
    }
}

fn path_error(error: PathError) -> Error {
    let kind = match error.kind {
        PathErrorKind::ParamValidation => ErrorKind::Config,
        PathErrorKind::Missing => ErrorKind::Local,
    };
    Error::new(kind, error.message)
}

/// Refuses conditions on what is not known.
fn check_conditions(spec: &TransferSpec, plan: &PathPlan) -> Result<()> {
    let refuse = |message: &str| Err(Error::new(ErrorKind::Config, message));
    if plan.is_stream() && !spec.conditions.is_empty() {
        return refuse(
            "conditions such as --min-size cannot be used with standard input and output",
        );
    }
    if plan.action == ActionKind::Upload && !spec.conditions.storage_classes.is_empty() {
        return refuse(
            "--source-storage-class is for objects: the files that are uploaded have no storage \
             class",
        );
    }
    Ok(())
}

fn chooser_of(
    spec: &TransferSpec,
    plan: &PathPlan,
    is_one_service: bool,
) -> Result<Option<SharedChooser>> {
    let is_used = spec.filter.is_some() || spec.to_key.is_some();
    if is_used && plan.is_stream() {
        let message = "scripts and templates cannot be used with standard input and output";
        return Err(Error::new(ErrorKind::Config, message));
    }
    let is_download = plan.action == ActionKind::Download;
    if spec.to_key.is_some() && is_download && plan.target_directory().is_none() {
        let message = "--to-key makes names below a folder: the target is one file";
        return Err(Error::new(ErrorKind::Config, message));
    }
    let source_bucket = bucket_of(Some(&plan.source));
    let is_move = spec.command == TransferCommand::Move;
    let names = match plan.action {
        ActionKind::Download => Names::Paths,
        // One service may have several host names, and what a move replaces is lost.
        ActionKind::Copy
            if (is_one_service || is_move) && source_bucket == bucket_of(plan.target.as_ref()) =>
        {
            match overlap(spec, plan) {
                Some(target) => Names::KeysOfSameTree(target),
                None if is_one_service => Names::KeysOfSameBucket,
                None => Names::Keys,
            }
        }
        _ => Names::Keys,
    };
    Chooser::new(spec.filter.as_ref(), spec.to_key.as_ref(), names, is_move)
}

/// The target of a move within a bucket of which one tree lies within the other, so that an object
/// could be moved over another one of the source.
fn overlap(spec: &TransferSpec, plan: &PathPlan) -> Option<String> {
    let (Side::Object(source), Some(Side::Object(target))) = (&plan.source, &plan.target) else {
        return None;
    };
    let (source, target) = (source.key.as_str(), target.key.as_str());
    let is_tree = spec.command == TransferCommand::Move
        && plan.is_directory
        && spec.to_key.is_none()
        && spec.names.is_none();
    let is_overlap = source != target && (source.starts_with(target) || target.starts_with(source));
    (is_tree && is_overlap).then(|| target.to_owned())
}

fn filter_of(spec: &TransferSpec, plan: &PathPlan, path_prefix: &str) -> Filter {
    if spec.filters.is_empty() {
        return Filter::all();
    }
    Filter::new(&spec.filters, &plan.filter_roots, path_prefix)
}
