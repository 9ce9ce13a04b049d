//! Codes of MFA devices: asked for on the terminal, whatever the streams are, and not elsewhere.

#![expect(clippy::unwrap_used, reason = "helpers of tests: they may fail them")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::Output;
use std::sync::{Arc, Mutex};

use crate::support::{BINARY, Bench, stderr};
use crate::terminal::{SIZES, Terminal, has_tmux};

const QUESTION: &str = "Enter MFA code for arn:aws:iam::123456789012:mfa/me:";

/// A service that gives the keys of the server for a code, and the requests that it got.
fn token_service(bench: &Bench) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&asked);
    let answer = format!(
        "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>{}</AccessKeyId>\
         <SecretAccessKey>{}</SecretAccessKey><SessionToken>t</SessionToken>\
         <Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult>\
         </AssumeRoleResponse>",
        bench.variable("AWS_ACCESS_KEY_ID"),
        bench.variable("AWS_SECRET_ACCESS_KEY")
    );
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let (mut request, mut buffer) = (String::new(), [0; 4096]);
            while !request.contains("SerialNumber=") {
                let Ok(read @ 1..) = socket.read(&mut buffer) else { break };
                request.push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
            seen.lock().unwrap().push(request);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", answer.len());
            // A client that has gone is not our business.
            _ = socket.write_all(format!("{head}{answer}").as_bytes());
        }
    });
    (address, asked)
}

/// A server with a bucket, and a profile for it that asks for a code.
fn bench() -> (Bench, Arc<Mutex<Vec<String>>>) {
    let bench = Bench::with_objects(&["a", "b"]);
    let (address, asked) = token_service(&bench);
    let config = format!(
        "[profile with-code]\nrole_arn=arn:aws:iam::123456789012:role/r\nsource_profile=base\n\
         mfa_serial=arn:aws:iam::123456789012:mfa/me\nservices=here\n[profile base]\n\
         aws_access_key_id=AKIDBASE\naws_secret_access_key=s\n\
         [services here]\nsts =\n  endpoint_url=http://{address}\n\
         s3 =\n  endpoint_url={}\n",
        bench.endpoint()
    );
    bench.file(".aws/config", &config);
    (bench, asked)
}

fn start(bench: &Bench, words: &str) -> Terminal {
    let inner =
        format!("echo $$ > pid; unset AWS_ENDPOINT_URL; exec {BINARY} {words} --profile with-code");
    let shown = "stty -a | tr ' ;' '\\n' | grep -x -e icanon -e echo";
    let script = format!("trap : INT; sh -c '{inner}'; echo \"status: $?\"; {shown}; read line");
    Terminal::run(bench, &script, SIZES[1])
}

fn without_terminal(bench: &Bench, words: &str) -> Output {
    let mut command = bench.program("setsid");
    command.args(["--wait", BINARY]).args(words.split_whitespace());
    command.args(["--profile", "with-code"]).env_remove("AWS_ENDPOINT_URL").output().unwrap()
}

#[test]
fn a_code_is_typed_once_and_not_shown() {
    if !has_tmux() {
        return;
    }
    let (bench, asked) = bench();
    let terminal = start(&bench, "cp --recursive s3://box down --json > out.jsonl");
    terminal.shows(QUESTION);
    terminal.type_text("65x");
    terminal.press(&["BSpace"]);
    terminal.type_text("4321");
    terminal.press(&["Enter"]);
    terminal.is_left("status: 0");
    let screen = terminal.tmux(&["capture-pane", "-p"]);
    assert!(!screen.contains("65") && screen.matches(QUESTION).count() == 1, "{screen}");
    assert!(bench.read("out.jsonl").lines().all(|line| line.starts_with('{')));
    assert_eq!(bench.read("down/a"), "a");
    {
        let asked = asked.lock().unwrap();
        assert!(asked.len() == 1 && asked[0].contains("TokenCode=654321"), "{asked:?}");
    }
    // The next command needs no code, nor a terminal.
    let output = without_terminal(&bench, "ls s3://box");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn progress_waits_for_the_code() {
    if !has_tmux() {
        return;
    }
    let (bench, _) = bench();
    let terminal = start(&bench, "cp --recursive s3://box down");
    let screen = terminal.shows(QUESTION);
    let last = screen.trim_end().lines().last().unwrap().to_owned();
    assert_eq!(last.trim_end(), QUESTION, "{screen}");
    terminal.type_text("123456");
    terminal.press(&["Enter"]);
    terminal.is_left("status: 0");
    terminal.shows("download: s3://box/a to down/a");
}

#[test]
fn an_interrupt_ends_the_question() {
    if !has_tmux() {
        return;
    }
    for (words, status, is_key) in [
        ("ls s3://box", "status: 130", true),
        ("cp --recursive s3://box down", "status: 1", true),
        ("ls s3://box", "status: 130", false),
    ] {
        let (bench, asked) = bench();
        let terminal = start(&bench, words);
        terminal.shows(QUESTION);
        if is_key {
            terminal.press(&["C-c"]);
        } else {
            let mut kill = std::process::Command::new("kill");
            assert!(kill.arg(bench.read("pid").trim()).status().unwrap().success());
        }
        terminal.is_left(status);
        assert!(asked.lock().unwrap().is_empty());
    }
}

/// Each asked on its own, and each read some of what was typed.
#[test]
fn one_code_serves_processes_that_start_together() {
    if !has_tmux() {
        return;
    }
    let (bench, asked) = bench();
    let list = format!("{BINARY} ls s3://box/a --profile with-code");
    let script = format!(
        "unset AWS_ENDPOINT_URL; seq 4 | xargs -P4 -I@ {list} > out; echo \"status: $?\"; \
         stty -a | tr ' ;' '\\n' | grep -x -e icanon -e echo; read line"
    );
    let terminal = Terminal::run(&bench, &script, SIZES[1]);
    terminal.shows(QUESTION);
    terminal.type_text("123456");
    terminal.press(&["Enter"]);
    terminal.is_left("status: 0");
    assert_eq!(bench.read("out").lines().count(), 4);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn without_a_terminal_it_is_said_what_to_do() {
    let (bench, asked) = bench();
    for words in ["ls s3://box", "list s3://box --json", "cp --recursive s3://box down --json"] {
        let output = without_terminal(&bench, words);
        assert!(!output.status.success(), "{words}: {output:?}");
        let said = stderr(&output) + &String::from_utf8_lossy(&output.stdout);
        let expected = "there is no terminal to ask for it. Run `s3haul ls` or `aws s3 ls`";
        assert!(said.contains(expected), "{words}: {said}");
    }
    assert!(asked.lock().unwrap().is_empty());
}
