//! Each tool does each kind of work once, on a small tree; what it did is looked at with our own
//! command. This is how the command lines are checked against the tools as they are. The server
//! has to keep bytes: without them, some downloads fail by the tools' own checks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use super::{Endpoint, Found, Peer, Task};
use support::{process, term};

/// Sizes of the files; the last is sent in parts by every tool.
const SIZES: [(&str, usize); 6] = [
    ("one", 1),
    ("a/two", 4_000),
    ("a/c/three", 300_000),
    ("a/c/four", 32_768),
    ("d/five", 12),
    ("d/large", 60 << 20),
];

/// Names and sizes, of files or objects.
type Names = BTreeMap<String, u64>;

struct Trial<'a> {
    ours: Peer,
    peer: &'a Peer,
    endpoint: &'a Endpoint,
    scratch: PathBuf,
    bucket: String,
    other: String,
}

/// Tries all that were found. Buckets and files of the trial stay until the server ends.
pub(super) fn run(s3haul: &Path, found: &[Found]) -> Result<()> {
    let scratch = TempDir::new()?;
    let variable = |name: &str| {
        std::env::var(name).with_context(|| format!("`--try` needs {name}, as for the AWS tools"))
    };
    let endpoint = Endpoint {
        url: variable("AWS_ENDPOINT_URL")?,
        access_key: variable("AWS_ACCESS_KEY_ID")?,
        secret_key: variable("AWS_SECRET_ACCESS_KEY")?,
        region: variable("AWS_REGION")?,
        ca_file: std::env::var_os("AWS_CA_BUNDLE").map(PathBuf::from),
        scratch: scratch.path().to_owned(),
    };
    for found in found {
        let Found::Here(peer) = found else { continue };
        let folder = scratch.path().join(peer.name);
        fs::create_dir(&folder)?;
        let trial = Trial {
            ours: ours(s3haul),
            peer,
            endpoint: &endpoint,
            bucket: format!("trial-{}-{}", peer.name, std::process::id()),
            other: format!("other-{}-{}", peer.name, std::process::id()),
            scratch: folder,
        };
        trial.run().with_context(|| format!("could not try `{}`", peer.name))?;
    }
    Ok(())
}

fn ours(s3haul: &Path) -> Peer {
    let line = super::s3haul::line;
    Peer { name: "s3haul", version: None, about: "", program: s3haul.to_owned(), line }
}

impl Trial<'_> {
    fn run(&self) -> Result<()> {
        let Self { bucket, other, .. } = self;
        let tree = self.scratch.join("tree");
        make(&tree)?;
        for bucket in [bucket, other] {
            self.own(&["mb", &format!("s3://{bucket}")])?;
        }
        let made = files(&tree)?;
        let seed = Task::Upload { tree: &tree, bucket, prefix: "seed/" };
        self.done(&self.ours, &seed).map_err(anyhow::Error::msg)?;
        self.tell("upload", &Task::Upload { tree: &tree, bucket, prefix: "x/" }, |_| {
            self.expect(bucket, "x/", &made)
        });
        self.sync(&tree)?;
        let back = self.scratch.join("back");
        self.tell("download", &Task::Download { bucket, prefix: "seed/", target: &back }, |_| {
            ensure!(files(&back)? == made, "other files: {:?}", files(&back)?);
            Ok(())
        });
        self.one_file(&tree);
        self.listings(&made);
        let copy = Task::Copy {
            source_bucket: bucket,
            source_prefix: "seed/",
            bucket: other,
            prefix: "z/",
        };
        self.tell("copy", &copy, |_| self.expect(other, "z/", &made));
        self.tell("tag", &Task::Tag { bucket, prefix: "seed/" }, |_| self.tagged(made.len()));
        self.tell("delete", &Task::Delete { bucket, prefix: "seed/" }, |_| {
            self.expect(bucket, "seed/", &Names::new())
        });
        self.tell("version", &Task::Version, |_| Ok(()));
        Ok(())
    }

    /// All of it, then nothing, then one file that is new and one that was touched.
    fn sync(&self, tree: &Path) -> Result<()> {
        let bucket = &self.bucket;
        let task = Task::Sync { tree, bucket, prefix: "y/" };
        self.tell("sync", &task, |_| self.expect(bucket, "y/", &files(tree)?));
        self.tell("sync none", &task, |_| self.expect(bucket, "y/", &files(tree)?));
        fs::write(tree.join("d/new"), b"new")?;
        fs::write(tree.join("d/five"), b"FIVE FIVE 55")?;
        self.tell("sync some", &task, |_| {
            self.expect(bucket, "y/", &files(tree)?)?;
            let five = self.own(&["cp", &format!("s3://{bucket}/y/d/five"), "-"])?;
            ensure!(five.stdout == b"FIVE FIVE 55", "what was touched was not sent");
            Ok(())
        });
        fs::remove_file(tree.join("d/new"))?;
        Ok(())
    }

    fn one_file(&self, tree: &Path) {
        let bucket = &self.bucket;
        let file = tree.join("d/large");
        let upload = Task::UploadFile { file: &file, bucket, key: "one/large" };
        self.tell("upload one", &upload, |_| {
            self.expect(bucket, "one/", &Names::from([("large".to_owned(), 60 << 20)]))
        });
        let file = self.scratch.join("large");
        let download = Task::DownloadFile { bucket, key: "seed/d/large", file: &file };
        self.tell("download one", &download, |_| {
            ensure!(fs::metadata(&file)?.len() == 60 << 20, "the file has another size");
            Ok(())
        });
    }

    fn listings(&self, made: &Names) {
        let bucket = &self.bucket;
        self.tell("list", &Task::List { bucket }, |output| {
            let text = String::from_utf8_lossy(&output.stdout);
            let missing = made.keys().find(|name| !text.contains(&format!("seed/{name}")));
            missing.map_or(Ok(()), |name| bail!("`{name}` is not in the list"))
        });
        self.tell("summarize", &Task::Summarize { bucket }, |output| {
            let text = String::from_utf8_lossy(&output.stdout);
            term::dim(&format!("  {}", text.trim().lines().next_back().unwrap_or("")));
            ensure!(!text.trim().is_empty(), "printed nothing");
            Ok(())
        });
    }

    fn tagged(&self, count: usize) -> Result<()> {
        let address = format!("s3://{}/seed/", self.bucket);
        let output = self.own(&["tag", "get", "--recursive", &address])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let found = text.matches("bench").count();
        ensure!(found == count, "{found} of {count} have the tag:\n{text}");
        Ok(())
    }

    /// Does a piece of work and prints what became of it.
    fn tell(&self, name: &str, task: &Task<'_>, check: impl Fn(&Output) -> Result<()>) {
        let started = Instant::now();
        let done = self.done(self.peer, task).and_then(|output| {
            check(&output).map_err(|error| {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                format!("did not do it: {error:#}\n{said}")
            })
        });
        let took = term::seconds(started.elapsed());
        let head = format!("{:<8} {name:<12}", self.peer.name);
        match done {
            Ok(()) => term::line(&format!("{head} {took}")),
            Err(why) => term::line(&format!("{head} no: {why}")),
        }
    }

    fn done(&self, peer: &Peer, task: &Task<'_>) -> std::result::Result<Output, String> {
        let mut command = peer.command(task, self.endpoint)?;
        let output = process::output(&mut command).map_err(|error| format!("{error:#}"))?;
        if output.status.success() {
            return Ok(output);
        }
        let said = [output.stdout, output.stderr].concat();
        Err(format!("{}: {}", output.status, String::from_utf8_lossy(&said)))
    }

    /// Runs our own command.
    fn own(&self, args: &[&str]) -> Result<Output> {
        let mut command =
            super::call::Call { program: &self.ours.program, endpoint: self.endpoint }.command();
        let output = process::output(command.args(args))?;
        let said = String::from_utf8_lossy(&output.stderr);
        // A listing of nothing says so by its status alone, as that of `aws s3 ls` does.
        let is_fine = output.status.success() || said.is_empty();
        ensure!(is_fine, "`s3haul {}` failed: {said}", args.join(" "));
        Ok(output)
    }

    /// Holds what is below a prefix against what should be there.
    fn expect(&self, bucket: &str, prefix: &str, expected: &Names) -> Result<()> {
        let address = format!("s3://{bucket}/{prefix}");
        let args = ["list", "--format=tsv", "--fields=key,size", "--no-header", &address];
        let output = self.own(&args)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        let read = |(key, size): (&str, &str)| {
            Some((key.strip_prefix(prefix)?.to_owned(), size.parse().ok()?))
        };
        let found: Names = lines.filter_map(read).collect();
        ensure!(found == *expected, "`{address}` has {found:?}");
        Ok(())
    }
}

fn make(tree: &Path) -> Result<()> {
    for (name, size) in SIZES {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().context("files have folders")?)?;
        fs::write(path, vec![b'x'; size])?;
    }
    Ok(())
}

/// The files of a tree.
fn files(tree: &Path) -> Result<Names> {
    let mut found = Names::new();
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(tree)?.to_string_lossy().into_owned();
                found.insert(name, fs::metadata(&path)?.len());
            }
        }
    }
    Ok(found)
}
