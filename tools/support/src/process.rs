//! Starting other programs: where the workspace is, how cargo is called, what a failure says.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::term;

/// The manifest of the benchmarks.
pub const BENCH_MANIFEST: &str = "tools/bench/Cargo.toml";

/// The workspace's root, two folders above this package: where cargo runs us, else where we were
/// built.
///
/// # Panics
///
/// In a build of a package that does not lie in a folder of `tools`.
pub fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.ancestors().nth(2).map(Path::to_owned).expect("it lies in a folder of `tools`")
}

/// Where cargo builds to.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(path) => root().join(path),
        None => root().join("target"),
    }
}

/// Cargo, run in the workspace's root. What the cargo that started us set for this package is
/// taken out again, because build scripts that look at it would run anew.
pub fn cargo(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.current_dir(root()).args(args);
    command
}

/// Cargo on the workspace of the benchmarks, which builds into the same folder as the other.
pub fn bench_cargo(subcommand: &str, args: &[&str]) -> Command {
    let mut command = cargo(&[subcommand, "--manifest-path"]);
    command.arg(root().join(BENCH_MANIFEST)).args(args).env("CARGO_TARGET_DIR", target());
    command
}

/// Has cargo compile the workspace through clippy, whose warnings are errors: one compilation gives
/// both the lints and the programs. It leaves out what would make the next compilation quicker, and
/// what debuggers read; clippy's driver leaves out optimisations of rustc's own and the checks for
/// null and misaligned pointers. Libraries lie beside those of a plain `cargo build`; programs
/// overwrite its programs.
pub fn strict(command: &mut Command) -> &mut Command {
    command
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        // How `cargo clippy -- -D warnings` passes it on.
        .env("CLIPPY_ARGS", "-Dwarnings")
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
}

/// Has cargo optimise the crates that `tools/optimised.toml` names, in a development build that
/// shares its dependencies with the tests.
pub fn optimised(command: &mut Command) -> &mut Command {
    command.args(["--config", "tools/optimised.toml"]).env("CARGO_INCREMENTAL", "0")
}

/// Our own command: this one, else the one of the release profile or an optimised one of the
/// development profile, which is built.
pub fn s3haul(binary: Option<&Path>, is_release: bool) -> Result<PathBuf> {
    if let Some(binary) = binary {
        ensure!(binary.is_file(), "there is no `{}`", binary.display());
        return Ok(std::path::absolute(binary)?);
    }
    term::line("building s3haul");
    let mut build = cargo(&["build", "--quiet", "-p", "s3haul-cli"]);
    run(if is_release { build.arg("--release") } else { optimised(&mut build) })?;
    Ok(target().join(if is_release { "release" } else { "debug" }).join("s3haul"))
}

/// Runs a program with its output shown; fails when it does.
pub fn run(command: &mut Command) -> Result<()> {
    let name = describe(command);
    let status = command.status().with_context(|| format!("could not start `{name}`"))?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}

/// Runs a program without standard input, and gives each line that it prints to a function.
pub fn run_with_lines(command: &mut Command, mut take: impl FnMut(&str)) -> Result<()> {
    let name = describe(command);
    let (mut child, output) = start(command.stdin(Stdio::null()))?;
    for line in lines(output) {
        take(&line.with_context(|| format!("could not read what `{name}` prints"))?);
    }
    let status = child.0.wait()?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}

/// A process that is killed when this value is dropped.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Already gone where it was waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program, and waits until a function has found what it needs in the lines that it
/// prints. Its standard input ends with this process at the latest.
pub fn start_until<T>(
    command: &mut Command,
    mut find: impl FnMut(&str) -> Option<T>,
) -> Result<(Running, T)> {
    let (child, output) = start(command.stdin(Stdio::piped()))?;
    for line in lines(output) {
        if let Some(found) = find(&line?) {
            return Ok((child, found));
        }
    }
    bail!("`{}` ended too soon", describe(command))
}

fn start(command: &mut Command) -> Result<(Running, ChildStdout)> {
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("could not start `{}`", describe(command)))?;
    let output = child.stdout.take().context("standard output is piped")?;
    Ok((Running(child), output))
}

/// Lines in which other bytes than UTF-8 are replaced.
fn lines(output: ChildStdout) -> impl Iterator<Item = std::io::Result<String>> {
    let lines = BufReader::with_capacity(1 << 20, output).split(b'\n');
    lines.map(|line| line.map(|line| String::from_utf8_lossy(&line).into_owned()))
}

/// Runs a program silently; fails with what it printed.
pub fn run_quietly(command: &mut Command) -> Result<String> {
    let name = describe(command);
    let output = output(command)?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout);
        bail!("`{name}` failed ({})\n{}{}", output.status, stdout, stderr);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program without standard input and collects what it printed.
pub fn output(command: &mut Command) -> Result<Output> {
    let name = describe(command);
    command.stdin(Stdio::null()).output().with_context(|| format!("could not start `{name}`"))
}

/// The program of this name in a folder of `PATH`.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Has a program find its companions in these folders first.
pub fn search_first(command: &mut Command, folders: &[&Path]) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = folders.iter().map(|folder| folder.to_path_buf());
    command.env("PATH", std::env::join_paths(folders.chain(std::env::split_paths(&path)))?);
    Ok(())
}

/// Name and arguments of a program.
fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut text = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}
