//! Real shells complete command lines with the scripts of `completions`.
//!
//! Their functions are called as a prompt would call them. A shell that is not installed is left
//! out, with a word about it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a test says what it leaves out")]

use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{BINARY, Bench, stderr, stdout};

/// Shells, and what prints what they complete the line in `$LINE` to, one a line.
const SHELLS: [(&str, &str); 3] = [
    (
        "bash",
        // Bash cuts words at : and =, and gives what is behind the last cut.
        r#"
        source <(s3haul completions bash)
        COMP_WORDS=()
        rest=$LINE
        while [[ $rest =~ ^\ *([:=]+|[^:=\ ]+)(.*)$ ]]; do
            COMP_WORDS+=("${BASH_REMATCH[1]}")
            rest=${BASH_REMATCH[2]}
        done
        [[ $LINE == *' ' ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        current=${COMP_WORDS[COMP_CWORD]}
        [[ $current =~ ^[:=]+$ ]] && current=
        _s3haul s3haul "$current"
        for found in "${COMPREPLY[@]}"; do printf '%s\n' "$found"; done
        "#,
    ),
    (
        "zsh",
        // -l comes with all that is added, and -a names the array.
        r#"
        compdef() { : }
        compadd() { print -rl -- "${(@P)@[-1]}" }
        _files() { : }
        source <(s3haul completions zsh)
        words=("${(@s: :)LINE}")
        CURRENT=$#words
        PREFIX=$words[-1]
        _s3haul
        "#,
    ),
    (
        "fish",
        r#"
        s3haul completions fish | source
        complete --do-complete "$LINE" | string split --fields 1 \t
        "#,
    ),
];

/// What stands before the candidates of bash: the rest of the word is on the line already.
fn kept(shell: &str, line: &str) -> String {
    let word = line.rsplit(' ').next().unwrap();
    let cut = word.rfind([':', '=']).map_or(0, |at| at + 1);
    if shell == "bash" { word[..cut].to_owned() } else { String::new() }
}

struct Prompt<'a> {
    bench: &'a Bench,
    shell: &'static str,
    script: &'static str,
}

impl Prompt<'_> {
    /// One for each shell that is here.
    fn all(bench: &Bench) -> Vec<Prompt<'_>> {
        std::fs::create_dir_all(bench.folder().join("bin")).unwrap();
        symlink(BINARY, bench.folder().join("bin/s3haul")).unwrap();
        let is_here = |(shell, _): &&(&str, &str)| {
            let is_here = Command::new(shell).args(["-c", "exit"]).status().is_ok();
            if !is_here {
                println!("{shell} is not installed: its completion is not tested");
            }
            is_here
        };
        let shells = SHELLS.iter().filter(is_here);
        shells.map(|&(shell, script)| Prompt { bench, shell, script }).collect()
    }

    fn command(&self, line: &str) -> Command {
        let path = [self.bench.folder().join("bin"), "/usr/bin".into(), "/bin".into()];
        let mut command = self.bench.program(self.shell);
        command.args(["-c", self.script]);
        command.env("PATH", std::env::join_paths(path).unwrap()).env("LINE", line);
        command
    }

    /// What a line is completed to, words whole.
    fn found(&self, line: &str) -> Vec<String> {
        let output = self.command(line).output().unwrap();
        assert_eq!(stderr(&output), "", "{} {line}", self.shell);
        let kept = kept(self.shell, line);
        let text = stdout(&output);
        let mut found: Vec<_> = text.lines().map(|found| format!("{kept}{found}")).collect();
        found.sort();
        found
    }

    #[track_caller]
    fn expect(&self, line: &str, expected: &[&str]) {
        assert_eq!(self.found(line), expected, "{}: `{line}`", self.shell);
    }
}

#[test]
fn shells_complete_commands_flags_profiles_buckets_and_keys() {
    let bench = Bench::with_objects(&["2025/a.jpg", "2025/b.jpg", "2026/c.jpg", "notes"]);
    bench.ok("mb s3://boxes");
    bench.file(".aws/config", "[default]\n[profile work]\nregion = r\n[profile home]\n");
    bench.file(".aws/credentials", "[work]\naws_secret_access_key = secret\n[keys]\n");
    bench.file("holiday.jpg", "x");
    let prompts = Prompt::all(&bench);
    assert_eq!(prompts[0].shell, "bash");
    for prompt in &prompts {
        prompt.expect("s3haul su", &["summarize"]);
        prompt.expect("s3haul s3 pres", &["presign"]);
        prompt.expect("s3haul versioning en", &["enable"]);
        prompt.expect("s3haul completions ", &["bash", "fish", "zsh"]);
        prompt.expect("s3haul sync --exact", &["--exact-timestamps"]);
        prompt.expect("s3haul plan sync --exact", &["--exact-timestamps"]);
        prompt.expect("s3haul restore --tier b", &["bulk"]);
        prompt.expect("s3haul ls --profile ", &["default", "home", "keys", "work"]);
        prompt.expect("s3haul ls --profile=w", &["--profile=work"]);
        prompt.expect("s3haul cp --source-profile h", &["home"]);
        prompt.expect("s3haul ls s", &["s3://"]);
        prompt.expect("s3haul ls s3:", &["s3://"]);
        prompt.expect("s3haul ls s3://", &["s3://box/", "s3://boxes/"]);
        prompt.expect("s3haul ls s3://boxe", &["s3://boxes/"]);
        prompt
            .expect("s3haul ls s3://box/", &["s3://box/2025/", "s3://box/2026/", "s3://box/notes"]);
        prompt.expect("s3haul rm --dryrun s3://box/2", &["s3://box/2025/", "s3://box/2026/"]);
        let keys = ["s3://box/2025/a.jpg", "s3://box/2025/b.jpg"];
        prompt.expect("s3haul mv --quiet holiday.jpg s3://box/2025/", &keys);
        prompt.expect("s3haul plan rm s3://box/n", &["s3://box/notes"]);
        prompt.expect("s3haul ls s3://none/", &[]);
        let any = prompt.found("s3haul cp ");
        assert!(any.contains(&"s3://".to_owned()) && any.contains(&"holiday.jpg".to_owned()));
        assert!(!any.iter().any(|word| word.starts_with('-')), "{any:?}");
    }
}

#[test]
fn names_that_a_shell_would_read_otherwise_come_back_as_they_are() {
    let bench = Bench::with_objects(&[]);
    let output = bench.run_with_input("pipe s3://box/k", "x");
    assert!(output.status.success());
    for key in ["a b'c", "colon:d", "\u{1b}[31m", "line\nend"] {
        let address = format!("s3://box/{key}");
        let output = bench.program(BINARY).args(["cp", "s3://box/k", &address]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    bench.file("d/line\nend", "x");
    bench.file("d/a b", "x");
    for prompt in Prompt::all(&bench) {
        let shown = prompt.found("s3haul apply d/");
        assert!(!shown.iter().any(|word| word.contains("end")), "{}: {shown:?}", prompt.shell);
        let quoted = if prompt.shell == "bash" { "s3://box/a\\ b\\'c" } else { "s3://box/a b'c" };
        prompt.expect("s3haul cat s3://box/", &[quoted, "s3://box/colon:d", "s3://box/k"]);
        prompt.expect("s3haul cat s3://box/colon:", &["s3://box/colon:d"]);
    }
}

/// A server that takes connections and says nothing, and one that is not there.
#[test]
fn a_dead_endpoint_completes_nothing_and_holds_nobody_up() {
    let bench = Bench::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    let started = Instant::now();
    let prompts = Prompt::all(&bench);
    for prompt in &prompts {
        for endpoint in ["http://127.0.0.1:1", &silent, "nonsense"] {
            let line = format!("s3haul ls --endpoint-url {endpoint} s3://box/");
            prompt.expect(&line, &[]);
        }
    }
    // What would hold a prompt up is a request that is tried again and again.
    let limit = Duration::from_secs(20) * u32::try_from(prompts.len()).unwrap();
    assert!(started.elapsed() < limit, "{:?}", started.elapsed());
}

#[test]
fn programs_for_credentials_are_not_run_and_nothing_is_said_about_errors() {
    let bench = Bench::with_objects(&["k"]);
    bench.file(".aws/config", "[profile ask]\ncredential_process = touch asked\n");
    bench.file("broken", "[profile");
    for prompt in Prompt::all(&bench) {
        prompt.expect("s3haul ls --profile ask s3://", &[]);
        prompt.expect("s3haul ls --profile none s3://", &[]);
        let mut command = prompt.command("s3haul ls --profile ");
        let output = command.env("AWS_CONFIG_FILE", "broken").output().unwrap();
        assert_eq!(stderr(&output), "", "{}", prompt.shell);
    }
    assert!(!bench.names().contains(&"asked".to_owned()));
}

/// A second completion in one folder takes no request: the server is gone by then.
#[test]
fn what_was_listed_a_moment_ago_is_not_listed_again() {
    let mut bench = Bench::with_objects(&["2025/a.jpg", "2025/b.jpg"]);
    let line = "s3haul ls s3://box/2025/";
    let bash = |bench: &Bench| {
        let found = Prompt::all(bench)[0].found(line);
        std::fs::remove_dir_all(bench.folder().join("bin")).unwrap();
        found
    };
    let first = bash(&bench);
    assert_eq!(first, ["s3://box/2025/a.jpg", "s3://box/2025/b.jpg"]);
    bench.end();
    assert_eq!(bash(&bench), first);
    assert_eq!(bench.names_in(".cache/s3haul/complete").len(), 1);
}
