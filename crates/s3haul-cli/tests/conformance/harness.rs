//! Runs cases on a server: a bucket and a folder for each, two at a time, all failures reported.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::command::{Finished, Invocation};
use crate::remote::Remote;
use crate::servers::Server;
use crate::{tools, trees};

const CASES_AT_ONCE: usize = 2;
/// Slower cases are named in the report.
const SLOW: Duration = Duration::from_secs(5);

/// One case.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// Topic and name.
    pub(crate) name: &'static str,
    /// What it does; fails by panicking.
    pub(crate) run: fn(&Ctx<'_>),
}

/// Lists the functions of a module as cases.
macro_rules! cases {
    ($topic:literal: $($name:ident),* $(,)?) => {
        /// The cases of this topic.
        pub(crate) const CASES: &[$crate::harness::Case] = &[$(
            $crate::harness::Case { name: concat!($topic, "::", stringify!($name)), run: $name },
        )*];
    };
}
pub(crate) use cases;

/// What a case works with.
pub(crate) struct Ctx<'a> {
    /// The server.
    pub(crate) server: &'a Server,
    /// The bucket of this case, empty at its start.
    pub(crate) bucket: String,
    /// The bucket's content, seen past the command under test.
    pub(crate) remote: Remote<'a>,
    folder: TempDir,
    skipped: RefCell<Vec<String>>,
}

impl Ctx<'_> {
    /// The folder in which commands run.
    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// A path in that folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    /// Writes a file below that folder.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        trees::write(&self.dir(), name, bytes)
    }

    /// `s3://BUCKET/` and a key.
    pub(crate) fn url(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.bucket)
    }

    /// The command under test, not yet started.
    pub(crate) fn haul_with(&self, args: &[&str]) -> Invocation {
        self.with_credentials(Invocation::new(&tools::subject(), &self.dir())).args(args)
    }

    /// Runs the command under test.
    pub(crate) fn haul(&self, args: &[&str]) -> Finished {
        self.haul_with(args).run()
    }

    /// An AWS configuration with an `s3 =` section of these settings, `name=value name=value`.
    pub(crate) fn config(&self, settings: &str) -> PathBuf {
        let path = self.folder.path().join("config");
        let mut text = "[default]\ns3 =\n".to_owned();
        for setting in settings.split(' ') {
            text.push_str("    ");
            text.push_str(&setting.replace('=', " = "));
            text.push('\n');
        }
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs it with settings for the `s3 =` section of the AWS configuration.
    pub(crate) fn haul_configured(&self, settings: &str, args: &[&str]) -> Finished {
        self.haul_with(args).variable("AWS_CONFIG_FILE", self.config(settings)).run()
    }

    /// Runs the real `aws`, or says that it is skipped.
    pub(crate) fn aws(&self, args: &[&str]) -> Option<Finished> {
        let Some(aws) = tools::find("S3HAUL_TEST_AWS") else {
            self.skip("S3HAUL_TEST_AWS is not set");
            return None;
        };
        Some(self.with_credentials(Invocation::new(&aws, &self.dir())).args(args).run())
    }

    /// Runs a Python script with boto3's `s3` client and the `bucket` at hand.
    pub(crate) fn python(&self, script: &str) -> Option<Finished> {
        Some(self.python_with(script)?.run())
    }

    /// The same, not yet started.
    pub(crate) fn python_with(&self, script: &str) -> Option<Invocation> {
        let Some(python) = tools::find("S3HAUL_TEST_PYTHON") else {
            self.skip("S3HAUL_TEST_PYTHON is not set");
            return None;
        };
        let prelude = "import boto3, json, os, sys\nfrom botocore.config import Config\n\
            s3 = boto3.client('s3', config=Config(s3={'addressing_style': 'path'}))\n\
            bucket = os.environ['TEST_BUCKET']\n";
        let invocation = self
            .with_credentials(Invocation::new(&python, &self.dir()))
            .variable("TEST_BUCKET", &self.bucket)
            .variable("PYTHONIOENCODING", "utf-8")
            .args(&["-c", &format!("{prelude}{script}")]);
        Some(invocation)
    }

    /// Notes what of the case was left out.
    pub(crate) fn skip(&self, reason: &str) {
        self.skipped.borrow_mut().push(reason.to_owned());
    }

    /// Notes that the server cannot do something, and gives the answer back.
    pub(crate) fn can(&self, answer: bool, what: &str) -> bool {
        if !answer {
            self.skip(&format!("the server has no {what}"));
        }
        answer
    }

    fn with_credentials(&self, invocation: Invocation) -> Invocation {
        let home = self.folder.path().join("home");
        let invocation = match self.server.authority() {
            Some(authority) => invocation.variable("AWS_CA_BUNDLE", authority),
            None => invocation,
        };
        invocation
            .variable("HOME", &home)
            .variable("TZ", "UTC")
            .variable("LC_ALL", "C.UTF-8")
            .variable("AWS_CONFIG_FILE", home.join("no-config"))
            .variable("AWS_SHARED_CREDENTIALS_FILE", home.join("no-credentials"))
            .variable("AWS_EC2_METADATA_DISABLED", "true")
            .variable("AWS_DEFAULT_REGION", "us-east-1")
            .variable("AWS_REGION", "us-east-1")
            .variable("AWS_ENDPOINT_URL", &self.server.url)
            .variable("AWS_ACCESS_KEY_ID", &self.server.access_key)
            .variable("AWS_SECRET_ACCESS_KEY", &self.server.secret_key)
    }
}

struct Outcome {
    name: &'static str,
    failure: Option<String>,
    skipped: Vec<String>,
    took: Duration,
}

/// Runs all cases and panics with the names and messages of those that failed.
pub(crate) fn run_suite(server: &Server, cases: &[Case]) {
    let wanted = std::env::var("S3HAUL_TEST_CASE").unwrap_or_default();
    let cases: Vec<Case> = cases.iter().filter(|c| c.name.contains(&wanted)).copied().collect();
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..CASES_AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run_case(server, case);
                    outcomes.lock().unwrap().push(outcome);
                }
            });
        }
    });
    report(server, &outcomes.into_inner().unwrap(), start.elapsed());
}

fn run_case(server: &Server, case: &Case) -> Outcome {
    let start = Instant::now();
    let mut skipped = Vec::new();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let ctx = prepare(server);
        (case.run)(&ctx);
        ctx.skipped.take()
    }));
    let failure = match result {
        Ok(reasons) => {
            skipped = reasons;
            None
        }
        Err(panic) => Some(message(panic.as_ref())),
    };
    Outcome { name: case.name, failure, skipped, took: start.elapsed() }
}

fn prepare(server: &Server) -> Ctx<'_> {
    static NUMBER: AtomicUsize = AtomicUsize::new(1);
    let bucket = format!("case-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let folder = TempDir::new().unwrap();
    for name in ["work", "home"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let remote = Remote::new(server, &bucket);
    remote.create_bucket();
    Ctx { server, bucket, remote, folder, skipped: RefCell::default() }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}

fn report(server: &Server, outcomes: &[Outcome], took: Duration) {
    println!("{}: {:?}", server.name, server.features);
    for outcome in outcomes {
        for reason in &outcome.skipped {
            println!("{}: skipped in {}: {reason}", server.name, outcome.name);
        }
        if outcome.took > SLOW {
            println!("{}: {} took {:.1?}", server.name, outcome.name, outcome.took);
        }
    }
    let failed: Vec<String> = outcomes
        .iter()
        .filter_map(|o| o.failure.as_ref().map(|text| format!("--- {}\n{text}\n", o.name)))
        .collect();
    let passed = outcomes.len() - failed.len();
    tools::say(&format!(
        "{}: {passed} of {} cases passed in {took:.1?}, {} of them in part",
        server.name,
        outcomes.len(),
        outcomes.iter().filter(|outcome| !outcome.skipped.is_empty()).count()
    ));
    assert!(
        failed.is_empty(),
        "{} of {} cases failed on {}:\n\n{}",
        failed.len(),
        outcomes.len(),
        server.name,
        failed.join("\n")
    );
}

/// The folder that a case may use for what lies outside the one in which commands run.
pub(crate) fn outside(ctx: &Ctx<'_>) -> PathBuf {
    let above: &Path = ctx.folder.path();
    above.to_owned()
}
