//! What the command line and the environment say.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The operations and their options.
pub(crate) const USAGE: &str = "usage: bare OP --endpoint URL --bucket B [--prefix P] \
[--count N] [--size BYTES] [--concurrency C] [--part-size BYTES] [--file PATH]... \
[--keys FILE] [--paths FILE] [--ca FILE]

  put        COUNT objects of SIZE from memory; keys are PREFIX and 12 digits, from 0; with PATHS,
             one a line, the files there instead: open, fstat, read, close
  get        the objects of KEYS, one a line; bodies are dropped, or with PATHS written to the files
             there, whose folders exist: open, write, close
  put-parts  each FILE, by pread and multipart upload (one PUT where it is no larger than a part);
             keys are PREFIX and 12 digits
  get-parts  the objects of KEYS by ranges, by pwrite into the FILE with its index; a line is a key,
             a tab and its size
  list       pages of 1,000 keys below PREFIX: the first, and one after each line of KEYS
  sync       as `list`, and beside it an lstat of each file of the tree FILE
environment: AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION";

/// Options of a run.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) operation: String,
    pub(crate) endpoint: String,
    pub(crate) bucket: String,
    pub(crate) prefix: String,
    pub(crate) count: u64,
    pub(crate) size: usize,
    pub(crate) concurrency: usize,
    pub(crate) part_size: u64,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) keys: Option<PathBuf>,
    pub(crate) paths: Option<PathBuf>,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: String,
    pub(crate) region: String,
}

impl Options {
    /// Reads arguments (without the program's name) and the environment.
    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self {
            concurrency: 64,
            part_size: 8 << 20,
            access_key_id: variable("AWS_ACCESS_KEY_ID")?,
            secret_access_key: variable("AWS_SECRET_ACCESS_KEY")?,
            region: std::env::var("AWS_REGION").unwrap_or_else(|_| "us-east-1".to_owned()),
            ..Self::default()
        };
        options.read(args)?;
        if options.endpoint.is_empty() || options.bucket.is_empty() || options.concurrency == 0 {
            bail!("--endpoint, --bucket and a concurrency above 0 are needed; {USAGE}");
        }
        Ok(options)
    }

    fn read(&mut self, mut args: impl Iterator<Item = String>) -> Result<()> {
        self.operation = args.next().context(USAGE)?;
        while let Some(flag) = args.next() {
            let value = args.next().with_context(|| format!("`{flag}` needs a value"))?;
            match flag.as_str() {
                "--endpoint" => self.endpoint = value,
                "--bucket" => self.bucket = value,
                "--prefix" => self.prefix = value,
                "--count" => self.count = number(&flag, &value)?,
                "--size" => self.size = usize::try_from(number(&flag, &value)?)?,
                "--concurrency" => self.concurrency = usize::try_from(number(&flag, &value)?)?,
                "--part-size" => self.part_size = number(&flag, &value)?.max(1),
                "--file" => self.files.push(value.into()),
                "--keys" => self.keys = Some(value.into()),
                "--paths" => self.paths = Some(value.into()),
                "--ca" => self.ca = Some(value.into()),
                _ => bail!("unknown option `{flag}`; {USAGE}"),
            }
        }
        Ok(())
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

fn variable(name: &str) -> Result<String> {
    std::env::var(name).with_context(|| format!("`{name}` must be set"))
}

fn number(flag: &str, value: &str) -> Result<u64> {
    value.parse().with_context(|| format!("`{flag} {value}`: no number"))
}
