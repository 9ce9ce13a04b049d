//! `cargo deny` over the workspace, the benchmarks and `fuzz/`, and whether it finds something:
//! each check also runs with rules that our dependencies break.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use support::servers::Servers;
use support::{process, term};

/// What needs no network.
const CHECKS: [&str; 3] = ["licenses", "bans", "sources"];
/// A change of the rules for each of these that makes it fail: what is replaced, and by what.
const PLANTED: [(&str, &str, &str); 3] = [
    ("licenses", "    \"MIT\",\n", ""),
    ("bans", "deny = [\n", "deny = [\n    { crate = \"tokio\", reason = \"planted\" },\n"),
    (
        "sources",
        "allow-registry = [\"https://github.com/rust-lang/crates.io-index\"]",
        "allow-registry = []",
    ),
];
/// What the rules allow some of them and the others have not.
const LENIENT: [&str; 4] =
    ["-A", "license-exception-not-encountered", "-A", "license-not-encountered"];

/// Licences, banned crates and sources, then advisories where their database can be fetched.
pub(crate) fn run() -> Result<()> {
    let servers = Servers::locate();
    servers.install_python()?;
    let deny = Deny { folder: servers.python_programs() };
    let rules = process::root().join("deny.toml");
    let all = [
        ("Cargo.toml", &LENIENT[..2]),
        (process::BENCH_MANIFEST, &LENIENT[..]),
        ("fuzz/Cargo.toml", &LENIENT[..]),
    ];
    for (manifest, lenient) in all {
        process::run(deny.command(manifest, &rules)?.args(lenient).args(CHECKS))?;
    }
    deny.find_planted(&rules)?;
    for (manifest, _) in all {
        let output = process::output(deny.command(manifest, &rules)?.arg("advisories"))?;
        let report = String::from_utf8_lossy(&output.stderr);
        if report.contains("failed to fetch advisory database") {
            term::line("deny: the database of advisories cannot be reached; not checked");
            return Ok(());
        }
        if !output.status.success() {
            bail!("advisories concern the dependencies of `{manifest}`\n{report}");
        }
    }
    Ok(())
}

struct Deny {
    /// Where the program is.
    folder: PathBuf,
}

impl Deny {
    fn command(&self, manifest: &str, rules: &Path) -> Result<Command> {
        let mut command = process::cargo(&["deny", "--manifest-path", manifest]);
        // The lock file of `fuzz/` follows: adding a crate needs no further step.
        if manifest != "fuzz/Cargo.toml" {
            command.arg("--locked");
        }
        command.arg("--config").arg(rules).arg("check");
        process::search_first(&mut command, &[&self.folder])?;
        Ok(command)
    }

    /// Fails where a check passes although its rules forbid what we have.
    fn find_planted(&self, rules: &Path) -> Result<()> {
        let rules = fs::read_to_string(rules).context("could not read `deny.toml`")?;
        let folder = tempfile::tempdir()?;
        for (check, from, to) in PLANTED {
            let path = folder.path().join(format!("{check}.toml"));
            fs::write(&path, planted(&rules, from, to)?)?;
            let output = process::output(self.command("Cargo.toml", &path)?.arg(check))?;
            let report = String::from_utf8_lossy(&output.stderr);
            let told = String::from_utf8_lossy(&output.stdout).contains(&format!("{check} FAILED"));
            if output.status.success() || !(told || report.contains(&format!("{check} FAILED"))) {
                bail!("`cargo deny check {check}` does not find what was planted\n{report}");
            }
        }
        Ok(())
    }
}

fn planted(rules: &str, from: &str, to: &str) -> Result<String> {
    if rules.matches(from).count() != 1 {
        bail!("`deny.toml` should hold once: {from}");
    }
    Ok(rules.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planted_changes_the_rules() {
        let rules = fs::read_to_string(process::root().join("deny.toml")).unwrap();
        for (check, from, to) in PLANTED {
            assert!(CHECKS.contains(&check));
            assert_ne!(planted(&rules, from, to).unwrap(), rules, "{check}");
        }
        assert!(planted(&rules, "no such rule", "").is_err());
    }
}
