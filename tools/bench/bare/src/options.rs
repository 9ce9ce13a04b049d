//! What the command line and the environment say.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Options of a run, the one argument as JSON. The credentials are in the environment:
/// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_REGION`.
///
/// | operation | does |
/// |---|---|
/// | `put` | `count` objects of `size` from memory; keys are `prefix` and 12 digits, from 0; with `paths`, one a line, the files there instead: open, fstat, read, close |
/// | `get` | the objects of `keys`, one a line; bodies are dropped, or with `paths` written to the files there, whose folders exist: open, write, close |
/// | `put-parts` | each of `files`, by pread and multipart upload (one PUT where it is no larger than a part); keys are `prefix` and 12 digits |
/// | `get-parts` | the objects of `keys` by ranges, by pwrite into the one of `files` with its index; a line is a key, a tab and its size |
/// | `list` | pages of 1,000 keys below `prefix`: the first, and one after each line of `keys` |
/// | `sync` | as `list`, and beside it an lstat of each file of the tree that is the first of `files` |
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    pub(crate) operation: String,
    pub(crate) endpoint: String,
    pub(crate) bucket: String,
    #[serde(default)]
    pub(crate) prefix: String,
    #[serde(default)]
    pub(crate) count: u64,
    #[serde(default)]
    pub(crate) size: usize,
    pub(crate) concurrency: usize,
    pub(crate) part_size: u64,
    #[serde(default)]
    pub(crate) files: Vec<PathBuf>,
    pub(crate) keys: Option<PathBuf>,
    pub(crate) paths: Option<PathBuf>,
    /// The certificate authority of `https`.
    pub(crate) ca: Option<PathBuf>,
    #[serde(skip)]
    pub(crate) access_key_id: String,
    #[serde(skip)]
    pub(crate) secret_access_key: String,
    #[serde(skip)]
    pub(crate) region: String,
}

impl Options {
    /// Reads the argument and the environment.
    pub(crate) fn read() -> Result<Self> {
        let text = std::env::args().nth(1).context("the argument is an object in JSON")?;
        let options: Self = serde_json::from_str(&text).context("could not read the options")?;
        ensure!(options.concurrency > 0 && options.part_size > 0, "0 is too small");
        let variable =
            |name: &str| std::env::var(name).with_context(|| format!("`{name}` must be set"));
        Ok(Self {
            access_key_id: variable("AWS_ACCESS_KEY_ID")?,
            secret_access_key: variable("AWS_SECRET_ACCESS_KEY")?,
            region: variable("AWS_REGION")?,
            ..options
        })
    }

    /// Lines of the file of keys; none where no file is named.
    pub(crate) fn lines(&self) -> Result<Vec<String>> {
        lines(self.keys.as_deref())
    }

    /// Files of small objects; none where no list of them is named.
    pub(crate) fn small_files(&self) -> Result<Vec<PathBuf>> {
        Ok(lines(self.paths.as_deref())?.into_iter().map(PathBuf::from).collect())
    }

    /// The key of an index: the prefix and 12 digits.
    pub(crate) fn key(&self, index: u64) -> String {
        format!("{}{index:012}", self.prefix)
    }
}

fn lines(path: Option<&Path>) -> Result<Vec<String>> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("could not read `{}`", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}
