//! `cargo xtask demo`: a tour of the command against the server it brings along. Every step shows
//! what one would type, what it took, and is checked by code that shares nothing with the command:
//! trees are compared byte for byte, counts with what was made.

mod compare;
mod http;
mod shell;
mod tree;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};

use self::shell::{Ran, Shell};
use self::tree::Totals;
use support::server::Server;
use support::{process, term};

/// Runs the tour with this command, or one that is built.
pub(crate) fn run(binary: Option<&Path>) -> Result<()> {
    let binary = process::s3haul(binary, false)?;
    let started = Instant::now();
    let scratch = tempfile::Builder::new().prefix("s3haul-demo-").tempdir()?;
    let folder = scratch.path();
    let made = tree::create(&folder.join("tree")).context("could not make the tree")?;
    term::line(&format!(
        "{} files, {}, in {}",
        term::count(made.files),
        term::bytes(made.bytes),
        folder.join("tree").display()
    ));
    let objects = folder.join("server");
    let path = objects.to_str().context("the temporary folder's path is no UTF-8")?;
    let server = Server::start(&binary, &[path])?;
    let endpoint = server.variable("AWS_ENDPOINT_URL");
    term::line(&format!("server: {endpoint}, objects in {path}"));
    let shell = Shell { binary: &binary, folder, server: &server };
    Tour { shell, folder, made }.run()?;
    server.stop()?;
    term::good(&format!("all as it should be, in {}", term::seconds(started.elapsed())));
    Ok(())
}

struct Tour<'a> {
    shell: Shell<'a>,
    folder: &'a Path,
    made: Totals,
}

impl Tour<'_> {
    fn run(&self) -> Result<()> {
        let bucket = self.shell.run(&["mb", "s3://demo"])?;
        bucket.tell_last_lines(1);
        self.upload_and_list()?;
        self.download()?;
        self.copy_and_remove()?;
        self.one_object()?;
        self.streams()?;
        self.describe()?;
        self.move_one()?;
        self.sync()?;
        self.remove_bucket()
    }

    fn upload_and_list(&self) -> Result<()> {
        let upload = ["cp", "--recursive", "tree", "s3://demo/tree/", "--only-show-errors"];
        self.shell.run(&upload)?.tell_rates(self.made);
        let listing = self.shell.run(&["ls", "--recursive", "--summarize", "s3://demo/tree/"])?;
        listing.tell_last_lines(6);
        expect_totals(&listing, self.made)
    }

    fn download(&self) -> Result<()> {
        let download = ["cp", "--recursive", "s3://demo/tree/", "back", "--only-show-errors"];
        self.shell.run(&download)?.tell_rates(self.made);
        let started = Instant::now();
        compare::trees(&self.folder.join("tree"), &self.folder.join("back"))
            .context("what came back is not what was sent")?;
        let took = term::seconds(started.elapsed());
        term::good(&format!("  same names, same bytes ({took} to compare)"));
        Ok(())
    }

    fn copy_and_remove(&self) -> Result<()> {
        let copy = ["cp", "--recursive", "s3://demo/tree/", "s3://demo/copy/"];
        self.shell.run(&[&copy[..], &["--only-show-errors"]].concat())?.tell_rates(self.made);
        self.expect_below("s3://demo/copy/", self.made)?;
        let part = "s3://demo/copy/odd/";
        let going = self.totals_below(part)?;
        let dry = self.shell.run(&["rm", "--recursive", "--dryrun", part])?;
        dry.tell_last_lines(3);
        self.expect_below("s3://demo/copy/", self.made)?;
        self.shell.run(&["rm", "--recursive", part, "--only-show-errors"])?.tell_rates(going);
        let left =
            Totals { files: self.made.files - going.files, bytes: self.made.bytes - going.bytes };
        self.expect_below("s3://demo/copy/", left)
    }

    fn one_object(&self) -> Result<()> {
        let head = self.shell.run(&["head", "s3://demo/tree/readme.txt"])?;
        ensure!(!head.stdout.is_empty(), "`head` printed nothing");
        head.tell_last_lines(12);
        let url = self.shell.run(&["presign", "s3://demo/tree/odd/100%"])?;
        url.tell_last_lines(1);
        let body = http::get(url.text().trim()).context("could not fetch the presigned URL")?;
        self.expect_bytes("odd/100%", &body)?;
        term::good("  the URL gives the same bytes to a client without credentials");
        Ok(())
    }

    fn streams(&self) -> Result<()> {
        let name = "exact/20000000.bin";
        let cat = self.shell.run(&["cat", &format!("s3://demo/tree/{name}")])?;
        let moved = Totals { files: 1, bytes: cat.stdout.len() as u64 };
        cat.tell_rates(moved);
        self.expect_bytes(name, &cat.stdout)?;
        let pipe = ["pipe", "s3://demo/piped.bin"];
        self.shell.run_with_input(&pipe, &self.folder.join("tree").join(name))?.tell_rates(moved);
        let again = self.shell.run(&["cat", "s3://demo/piped.bin"])?;
        again.tell_rates(moved);
        self.expect_bytes(name, &again.stdout)
    }

    fn describe(&self) -> Result<()> {
        let table = ["list", "s3://demo/tree/", "--format", "csv", "--output-file", "tree.csv"];
        self.shell.run(&table)?.tell_rates(self.made);
        // A name may hold a line feed: then its row has more than one line.
        let lines = std::fs::read_to_string(self.folder.join("tree.csv"))?.lines().count();
        ensure!(lines as u64 > self.made.files, "the table has only {lines} lines");
        let largest = "js:(key, {Size}) => Size > 20e6";
        let large = self.shell.run(&["list", "s3://demo/tree/", "--sort", "--filter", largest])?;
        large.tell_last_lines(3);
        let summary = ["summarize", "s3://demo/tree/", "--top", "3"];
        let summary = self.shell.run(&summary)?;
        summary.tell_last_lines(80);
        let objects = format!("{} objects", term::count(self.made.files));
        ensure!(summary.text().contains(&objects), "the summary does not say `{objects}`");
        Ok(())
    }

    /// A file is new, one changed, one gone, and one was moved away in the bucket.
    fn sync(&self) -> Result<()> {
        let past = SystemTime::now() - Duration::from_secs(10);
        for (name, text) in [("new/é 1.txt", "new"), ("odd/with space", "changed by the demo")] {
            let path = self.folder.join("tree").join(name);
            std::fs::create_dir_all(path.parent().context("it has a folder")?)?;
            std::fs::write(&path, text)?;
            File::options().write(true).open(path)?.set_modified(past)?;
        }
        std::fs::remove_file(self.folder.join("tree").join("odd/100%"))?;
        let up = ["sync", "tree", "s3://demo/tree/", "--delete"];
        let dry = self.shell.run(&[&up[..], &["--dryrun"]].concat())?;
        dry.tell_last_lines(8);
        let done = self.shell.run(&up)?;
        done.tell_last_lines(8);
        ensure!(done.text().lines().count() == 4, "four names differ");
        let again = self.shell.run(&up)?;
        again.tell();
        ensure!(again.stdout.is_empty(), "nothing is left to do: {}", again.text());
        let down = ["sync", "s3://demo/tree/", "back", "--delete", "--exact-timestamps"];
        let back = self.shell.run(&down)?;
        back.tell_last_lines(4);
        compare::trees(&self.folder.join("tree"), &self.folder.join("back"))
            .context("the synced trees differ")?;
        term::good("  both sides are the same again, byte for byte");
        Ok(())
    }

    fn move_one(&self) -> Result<()> {
        let target = "s3://demo/moved/a new name.txt";
        let moved = self.shell.run(&["mv", "s3://demo/tree/readme.txt", target])?;
        moved.tell_last_lines(2);
        let cat = self.shell.run(&["cat", target])?;
        cat.tell();
        self.expect_bytes("readme.txt", &cat.stdout)?;
        let bytes = self.made.bytes - cat.stdout.len() as u64;
        let left = Totals { files: self.made.files - 1, bytes };
        self.expect_below("s3://demo/tree/", left)
    }

    fn remove_bucket(&self) -> Result<()> {
        let removed = self.shell.run(&["rb", "s3://demo", "--force"])?;
        removed.tell_last_lines(1);
        let buckets = self.shell.run(&["ls"])?;
        ensure!(buckets.stdout.is_empty(), "a bucket is left: {}", buckets.text());
        buckets.tell();
        Ok(())
    }

    fn expect_bytes(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let wanted = std::fs::read(self.folder.join("tree").join(name))?;
        ensure!(wanted == bytes, "`{name}` came back with other bytes");
        Ok(())
    }

    fn expect_below(&self, prefix: &str, wanted: Totals) -> Result<()> {
        let found = self.totals_below(prefix)?;
        ensure!(found == wanted, "below {prefix} there are {found:?}, not {wanted:?}");
        Ok(())
    }

    fn totals_below(&self, prefix: &str) -> Result<Totals> {
        let listing = self.shell.run(&["ls", "--recursive", "--summarize", prefix])?;
        listing.tell_last_lines(2);
        summary(&listing)
    }
}

fn expect_totals(listing: &Ran, wanted: Totals) -> Result<()> {
    let found = summary(listing)?;
    ensure!(found == wanted, "the listing counts {found:?}, not {wanted:?}");
    Ok(())
}

/// What the last lines of `ls --summarize` count.
fn summary(listing: &Ran) -> Result<Totals> {
    let text = listing.text();
    let number = |label: &str| {
        let line = text.lines().rev().find_map(|line| line.trim().strip_prefix(label));
        line.and_then(|value| value.trim().parse::<u64>().ok())
            .with_context(|| format!("`ls --summarize` printed no `{label}`"))
    };
    Ok(Totals { files: number("Total Objects:")?, bytes: number("Total Size:")? })
}
