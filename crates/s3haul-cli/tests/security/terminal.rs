//! What others named reaches a terminal as text and not as orders. Elsewhere it is left alone.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::echo;
use super::support::Bench;

/// Orders to a terminal, ends of lines, and characters that turn lines around.
const ORDERS: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{1b}[2J\u{8}\u{c}\r\n\t\u{7f}\u{9b}1m\u{85}\
                      \u{202e}rtl\u{2066}\u{200f}\u{61c}\u{2028}\u{2029}end";

/// Runs a command whose output and error are a terminal; gives what came there.
fn shown(command: &mut Command) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
    let open = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
    let mut child = command.stdin(Stdio::null()).stdout(open()).stderr(open()).spawn().unwrap();
    // The command's ends are its own now: reading ends when it does.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut controller = File::from(controller);
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    // Reading a terminal whose other end is closed is an error.
    while let Ok(read @ 1..) = controller.read(&mut buffer) {
        all.extend_from_slice(&buffer[..read]);
    }
    child.wait().unwrap();
    String::from_utf8(all).unwrap()
}

/// Asserts that a text has nothing but what is printable and ends of lines; what the terminal
/// itself put before the latter is left out.
fn assert_plain(what: &str, text: &str) {
    let text = text.replace("\r\n", "\n");
    let is_order = |character: &char| {
        let is_turn = matches!(character, '\u{61c}' | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        is_turn || (character.is_control() && !matches!(character, '\n' | '\t'))
    };
    let found = text.chars().find(is_order);
    assert_eq!(found, None, "`{what}` gives orders to the terminal:\n{text:?}");
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    let mut put = bench.command("cp f");
    bench.file("f", "1");
    put.arg(format!("s3://box/d/{ORDERS}/{ORDERS}x"));
    put.args(["--metadata", "m=\u{9b}31m\u{202e}"]);
    let output = put.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    bench.ok("tag add s3://box --recursive --tags t=plain --only-show-errors");
    bench
}

/// Estimates and the command for a presigned URL are for people: pipes and files get neither.
#[test]
fn what_is_for_people_comes_on_a_terminal_only() {
    let bench = bench();
    for (args, text) in [
        ("rm --recursive s3://box --dryrun", "estimate: the command would send "),
        ("presign s3://box/k --method PUT --content-type a/b", "hint: curl --fail --upload-file"),
    ] {
        assert!(shown(&mut bench.command(args)).contains(text), "{args}");
        bench.ok(args);
    }
}

#[test]
fn keys_give_no_orders() {
    let bench = bench();
    bench.file(&format!("up/{}", ORDERS.replace('/', "_")), "1");
    for args in [
        "ls s3://box/d/",
        "ls s3://box --recursive",
        "ls s3://box --recursive --json",
        "list s3://box",
        "list s3://box --format keys",
        "list s3://box --format csv",
        "list s3://box --format tsv",
        "list s3://box --format jsonl",
        "list s3://box --json",
        "find s3://box --name *end*",
        "versions s3://box",
        "summarize s3://box",
        "summarize s3://box --format csv",
        "summarize s3://box --json",
        "compare s3://box/d s3://box/none",
        "compare s3://box/d s3://box/none --format csv",
        "tag get s3://box --recursive",
        "tag get s3://box --recursive --format csv",
        "tag get s3://box --recursive --format jsonl",
        "map s3://box --map js:key=>key",
        "each s3://box --each js:key=>key",
        "cp --recursive up s3://box/up --no-progress",
        "cp --recursive up s3://none/up --no-progress",
        "cp --recursive up s3://box/up --json",
        "cp --recursive s3://box s3://box/copy --no-progress",
        "sync s3://box/d down --no-progress",
        "sync up s3://box/up2 --no-progress --dryrun",
        "rm --recursive s3://box --dryrun --no-progress",
        "--debug ls s3://box",
        "rm --recursive s3://box/up --no-progress",
    ] {
        let text = shown(&mut bench.command(&format!("{args} --color off")));
        assert_plain(args, &text);
        assert!(!text.contains("u000d\r\n"), "lines of CSV end as others do: {args}");
        assert!(!text.contains("Usage:") && !text.is_empty(), "{args}: {text}");
    }
    let head =
        shown(bench.command("head --color off").arg(format!("s3://box/d/{ORDERS}/{ORDERS}x")));
    assert_plain("head", &head);
    assert!(head.contains("Metadata m:"), "{head}");
    for (args, start) in [
        ("rm", "s3://none/"),
        ("cat", "s3://box/"),
        ("tag get", "s3://none/"),
        ("rb", "s3://"),
        ("cp none", "s3://box/"),
    ] {
        let mut command = bench.command(&format!("--color off {args}"));
        command.arg(format!("{start}{ORDERS}")).env("NO_COLOR", "1");
        let text = shown(&mut command);
        assert_plain(args, &text);
        assert!(!text.contains("Usage:"), "{args}: {text}");
    }
}

/// Words of the command line come back in errors about them.
#[test]
fn arguments_give_no_orders() {
    let bench = bench();
    for args in [["ls", "--no-such-"], ["--region", ""], ["cp", ""], ["sync", "x --acl="]] {
        let mut command = bench.command("");
        command.arg(args[0]).arg(format!("{}{ORDERS}", args[1]));
        assert_plain(args[0], &shown(command.env("TERM", "xterm").env_remove("NO_COLOR")));
    }
}

/// The bar moves the cursor, and colours are colours: what a key holds does neither.
#[test]
fn keys_beside_a_bar_give_no_orders() {
    let bench = bench();
    for args in
        ["cp --recursive s3://box down", "cp --recursive s3://box down --progress-multiline"]
    {
        let text = shown(bench.command(args).env("TERM", "xterm"));
        for order in ["\u{1b}[31m", "\u{1b}]0;", "\u{1b}[2J\u{8}", "\u{9b}", "\u{202e}", "\u{85}"] {
            assert!(!text.contains(order), "{args}: {text:?}");
        }
        assert!(text.contains("title"), "{text:?}");
    }
}

#[test]
fn servers_give_no_orders() {
    let bench = Bench::new();
    let entities: String = ORDERS
        .chars()
        .map(|character| {
            if character.is_control() {
                format!("&#x{:x};", u32::from(character))
            } else {
                character.into()
            }
        })
        .collect();
    let message = format!("{ORDERS}</Message><Region>{entities}</Region><Message>");
    for code in
        ["AccessDenied", "NoSuchBucket", "PermanentRedirect", "AuthorizationHeaderMalformed"]
    {
        let refusal =
            echo::Refusal { status: "400 Bad Request", code, message: Some(message.clone()) };
        let endpoint = format!("http://{}", echo::start(refusal));
        for args in [
            "ls s3://box",
            "mb s3://box",
            "rb s3://box",
            "cp --recursive s3://box down --no-progress",
            "rm s3://box/k",
            "list s3://box --json",
            "--debug ls s3://box",
            "list-buckets",
            "summarize s3://box",
            "compare s3://box/a s3://box/b",
            "presign s3://box/k",
        ] {
            let mut command = bench.command(&format!("{args} --color off"));
            let text =
                shown(command.env("AWS_ENDPOINT_URL", &endpoint).env("AWS_MAX_ATTEMPTS", "1"));
            assert_plain(args, &text);
        }
    }
}

/// Pipes and files get what is there, byte for byte, as from `aws s3`.
#[test]
fn pipes_get_names_as_they_are() {
    let bench = bench();
    let key = format!("d/{ORDERS}/{ORDERS}x");
    let listed = bench.run("ls s3://box --recursive").stdout;
    assert!(String::from_utf8(listed).unwrap().contains(&key));
    let removed = bench.run("rm --recursive s3://box --dryrun").stdout;
    assert_eq!(String::from_utf8(removed).unwrap(), format!("(dryrun) delete: s3://box/{key}\n"));
}
