//! The Python package: a wheel as people install it, and its tests.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use support::install::{self, Environment, Folder};
use support::servers::Servers;
use support::{files, process, term};

use crate::{builders, checks};

/// What the tests of the package need, and what builds it.
const ENVIRONMENT: Environment = Environment {
    about: "maturin, pytest, mypy, boto3, pyarrow, pandas, Polars, DuckDB, Ray and Selenium",
    file: "tools/support/requirements-python.txt",
    packages: include_str!("../../support/requirements-python.txt"),
};

/// With these features the wheel of the tests needs no crates other than those of the other tests.
const AS_TESTED: [&str; 2] = ["--features", "as-tested"];

/// A larger wheel holds something that it should not.
const WHEEL_BYTES_MAX: u64 = 15_000_000;

/// The oldest Python that the package is for.
const OLDEST: &str = "3.10";

/// What its tests need there; those of pyarrow and the like skip themselves.
const FOR_OLDEST: [&str; 2] = ["boto3==1.43.11", "pytest==9.2.0"];

/// What draws the dashboard.
const FOR_DASHBOARD: &str = "matplotlib==3.11.2";

/// The tests on Ray.
const ON_RAY: &str = "tests/test_ray.py";

/// How much a soak on Ray moves, where the environment does not say otherwise.
const SOAK: [(&str, &str); 3] = [
    ("S3HAUL_TEST_RAY_KEYS", "2000000"),
    ("S3HAUL_TEST_RAY_FILES", "20000"),
    ("S3HAUL_TEST_RAY_LARGE_MIB", "1024"),
];

/// Makes the pictures of the documentation.
pub(crate) fn screenshots() -> Result<()> {
    if cfg!(target_os = "linux") {
        install::need("prometheus", "prometheus")?;
    }
    let python = install()?;
    install_package(&python)?;
    install::pip(&python, &[FOR_DASHBOARD.as_ref()])?;
    let (tools, images) =
        (process::root().join("tools/support"), process::root().join("docs/images"));
    let mut script = Command::new(&python);
    process::run(script.arg(tools.join("screenshots.py")).arg(&images))?;
    let mut script = Command::new(&python);
    script.arg(tools.join("dashboard.py")).arg(python.with_file_name("s3haul"));
    process::run(script.arg(images.join("dashboard.png")))
}

/// Installs the browser that pages are looked at with.
fn need_browser() -> Result<()> {
    if cfg!(target_os = "linux") && process::on_path("chromedriver").is_none() {
        install::apt_install("Chromium", &["chromium", "chromium-driver"])?;
    }
    Ok(())
}

/// Installs what its tests need; gives the Python that has it.
pub(crate) fn install() -> Result<PathBuf> {
    need_browser()?;
    environment()
}

/// Builds a wheel of the development profile, installs it and runs its tests.
pub(crate) fn test() -> Result<()> {
    let python = install()?;
    let wheel = install_package(&python)?;
    let sources = process::root().join("python/s3haul");
    let mut mypy = Command::new(&python);
    mypy.args(["-m", "mypy", "--strict", "--no-error-summary", "--cache-dir"])
        .arg(process::target().join("python/mypy"))
        .arg(sources);
    process::run(&mut mypy)?;
    // They wait more than they work, above all those on Ray: side by side.
    let run = |name: &str, tests: &mut Command| {
        tests.envs(Servers::locate().test_variables());
        process::run_quietly(tests).map(|output| say(name, &output))
    };
    std::thread::scope(|scope| {
        let oldest = scope.spawn(|| test_oldest(&wheel));
        let ray = scope.spawn(|| run("on Ray", &mut tests_of(&python, ON_RAY)));
        let mut most = tests_of(&python, "tests");
        let on_ray = process::root().join("python").join(ON_RAY);
        let most = run("all but Ray", most.arg("--ignore").arg(on_ray));
        let gone = |_| Err(anyhow!("the thread panicked"));
        let (ray, oldest) = (ray.join().unwrap_or_else(gone), oldest.join().unwrap_or_else(gone));
        checks::all([("the tests", most), ("those on Ray", ray), ("the oldest Python", oldest)])
    })
}

/// The tests on Ray, with so many rounds of what is lost, more of everything and the package as it
/// is released.
pub(crate) fn soak(rounds: u64) -> Result<()> {
    let python = environment()?;
    install::install_wheel(&python, &build(&python, "release", "soak", &[])?)?;
    let mut tests = tests_of(&python, ON_RAY);
    tests.arg("-v").env("S3HAUL_TEST_RAY_ROUNDS", rounds.to_string());
    for (name, value) in SOAK {
        if std::env::var_os(name).is_none() {
            tests.env(name, value);
        }
    }
    term::heading(&format!("soak: a Ray cluster, {rounds} rounds of what is lost"));
    process::run(&mut tests)
}

/// Builds a wheel of the development profile and installs it.
fn install_package(python: &Path) -> Result<PathBuf> {
    let wheel = build(python, "dev", "dev", &AS_TESTED)?;
    install::install_wheel(python, &wheel)?;
    Ok(wheel)
}

/// Where pytest says how many passed.
fn say(name: &str, output: &str) {
    term::line(&format!("python: {name}: {}", output.lines().last().unwrap_or_default()));
}

/// The same with the oldest Python and the embedded server alone.
fn test_oldest(wheel: &Path) -> Result<()> {
    let name = format!("with Python {OLDEST}");
    let Some(oldest) = oldest() else {
        say(&name, "not here, and not tested");
        return Ok(());
    };
    let venv = process::target().join("python/oldest");
    process::run_quietly(Command::new(oldest).args(["-m", "venv", "--clear"]).arg(&venv))?;
    let python = venv.join("bin/python");
    install::pip(&python, &FOR_OLDEST.map(OsStr::new))?;
    install::install_wheel(&python, wheel)?;
    process::run_quietly(&mut tests_of(&python, "tests")).map(|output| say(&name, &output))
}

fn tests_of(python: &Path, tests: &str) -> Command {
    let package = process::root().join("python");
    let mut pytest = Command::new(python);
    // From elsewhere: the package that is installed is tested, not the one that lies here.
    pytest
        .current_dir(process::target())
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"])
        .arg(&package)
        .arg(package.join(tests))
        .env("S3HAUL_TEST_DOCS", process::root().join("docs"));
    pytest
}

/// The oldest Python, where the machine has it: by its name, or among those of pyenv.
fn oldest() -> Option<PathBuf> {
    let name = format!("python{OLDEST}");
    // One of pyenv is on the path, and fails where its Python is not chosen.
    if process::run_quietly(Command::new(&name).arg("--version")).is_ok() {
        return Some(name.into());
    }
    let prefix = process::run_quietly(Command::new("pyenv").args(["prefix", OLDEST])).ok()?;
    Some(PathBuf::from(prefix.trim()).join("bin").join(name)).filter(|path| path.is_file())
}

/// Builds the package as it is released, into `target/wheels`: for every Linux since 2018 (glibc
/// 2.28), whatever this machine has. Zig's C compiler knows the old libraries.
pub(crate) fn wheel() -> Result<Vec<PathBuf>> {
    let python = builders::python()?;
    let mut wheels = Vec::new();
    for target in builders::targets("wheel") {
        let portable = ["--zig", "--compatibility", "manylinux_2_28", "--target", target];
        let wheel = build(&python, "release", target, &portable)?;
        forget_folder(&python, &wheel)?;
        let bytes = std::fs::metadata(&wheel)?.len();
        if bytes > WHEEL_BYTES_MAX {
            bail!("{} has {bytes} bytes, more than {WHEEL_BYTES_MAX}", wheel.display());
        }
        term::good(&format!("{}: {bytes} bytes", wheel.display()));
        wheels.push(wheel);
    }
    Ok(wheels)
}

/// Takes the folder of the sources out of the list of crates that maturin adds.
fn forget_folder(python: &Path, wheel: &Path) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let tool = |words: [&str; 3], path: &Path| {
        let mut tool = Command::new(python);
        tool.args(["-m", "wheel"]).args(words).arg(path);
        process::run_quietly(
            tool.env("SOURCE_DATE_EPOCH", builders::epoch()?).current_dir(&scratch),
        )
    };
    tool(["unpack", "--dest", "."], wheel)?;
    let unpacked = only(scratch.path())?;
    let mut lists = Vec::new();
    for entry in std::fs::read_dir(&unpacked)? {
        let folder = entry?.path().join("sboms");
        if folder.exists() {
            lists.push(only(&folder)?);
        }
    }
    let [list] = &lists[..] else { bail!("a wheel should have one list of crates: {lists:?}") };
    let root = process::root();
    let text = std::fs::read_to_string(list)?;
    std::fs::write(list, text.replace(&format!("file://{}", root.display()), "file:///s3haul"))?;
    let folder = wheel.parent().context("a wheel lies in no folder")?.to_string_lossy();
    tool(["pack", "--dest-dir", &folder], &unpacked).map(drop)
}

/// The one thing in a folder.
fn only(folder: &Path) -> Result<PathBuf> {
    let mut found = std::fs::read_dir(folder)?;
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one?.path()),
        _ => bail!("{} should hold one thing", folder.display()),
    }
}

/// The Python of an environment that has what is needed.
fn environment() -> Result<PathBuf> {
    let folder = Folder::new("python");
    folder.need_python(&ENVIRONMENT)?;
    Ok(folder.venv().join("bin/python"))
}

fn build(python: &Path, profile: &str, folder: &str, flags: &[&str]) -> Result<PathBuf> {
    let wheels = process::target().join("wheels").join(folder);
    // What was built before has the same name or another version: neither is to be found.
    files::remove(&wheels)?;
    let mut maturin = Command::new(python);
    maturin
        .current_dir(process::root())
        .args(["-m", "maturin", "build", "--quiet", "--locked", "--profile", profile, "--out"])
        .arg(&wheels)
        .args(flags)
        .env("CARGO_TARGET_DIR", process::target());
    if profile == "release" {
        builders::reproducible(&mut maturin)?;
    } else {
        process::strict(&mut maturin);
    }
    // Where maturin looks for its companions.
    let bin = python.parent().context("Python lies in no folder")?;
    process::search_first(&mut maturin, &[bin])?;
    process::run(&mut maturin)?;
    only(&wheels)
}
