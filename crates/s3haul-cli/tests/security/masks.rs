//! Files get the permissions that the user's umask gives, at every moment.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::support::Bench;

const MASKS: [u32; 4] = [0o077, 0o022, 0o002, 0o027];

/// The same command under a umask.
fn under(mask: u32, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("umask {mask:03o}; exec \"$0\" \"$@\"")])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

fn run(bench: &Bench, mask: u32, args: &str) -> Output {
    let output = under(mask, &bench.command(args)).output().unwrap();
    assert!(output.status.success(), "{args}: {output:?}");
    output
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// Asserts the permissions of all below a folder, and its own.
fn assert_modes(folder: &Path, mask: u32) {
    assert_eq!(mode(folder), 0o777 & !mask, "{} under {mask:03o}", folder.display());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_modes(&path, mask);
        } else {
            assert_eq!(mode(&path), 0o666 & !mask, "{} under {mask:03o}", path.display());
        }
    }
}

#[test]
fn what_commands_write_has_the_permissions_of_the_umask() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("up/small", "1");
    bench.file("up/deep/er/small", "1");
    bench.file("up/large", &"x".repeat(20 << 20));
    bench.ok("cp --recursive up s3://box --only-show-errors");
    let path = |name: &str| bench.folder().join(name);
    for mask in MASKS {
        let name = format!("of-{mask:03o}");
        fs::create_dir(path(&name)).unwrap();
        fs::set_permissions(path(&name), fs::Permissions::from_mode(0o777 & !mask)).unwrap();
        for args in [
            format!("cp --recursive s3://box {name}/tree --report {name}/report.jsonl"),
            format!("sync s3://box {name}/synced --report {name}/report.csv"),
            format!("cp s3://box/small {name}/new/folder/one"),
            format!("cp s3://box/large {name}/large"),
            format!("list s3://box --output-file {name}/listed.csv --format csv"),
            format!("list s3://box --output-file {name}/listed.parquet --format parquet"),
            format!("cp --recursive s3://box {name}/preserved --preserve"),
        ] {
            run(&bench, mask, &args);
        }
        // What was there before is replaced, with the permissions of a new file.
        fs::set_permissions(path(&name).join("large"), fs::Permissions::from_mode(0o600)).unwrap();
        run(&bench, mask, &format!("cp s3://box/large {name}/large"));
        assert_modes(&path(&name), mask);
    }
}

/// Looks at a download while it runs: its temporary file is no more open than the file will be.
#[test]
fn a_file_on_its_way_is_not_open_to_others() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("secret", &"x".repeat(24 << 20));
    fs::set_permissions(bench.folder().join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    bench.ok("cp secret s3://box/secret --preserve");
    bench.ok("cp secret s3://box/plain");
    let slowly = "[default]\ns3 =\n  max_bandwidth = 8MB/s\n";
    bench.file("config", slowly);
    for (key, flags, mask, open) in [
        ("plain", "", 0o077, 0o600),
        ("plain", "", 0o022, 0o644),
        ("plain", "", 0o002, 0o664),
        // The permissions that come with the object are narrower than the umask.
        ("secret", "--preserve", 0o002, 0o600),
        ("plain", "--preserve", 0o002, 0o664),
    ] {
        let folder = bench.folder().join("down");
        fs::create_dir(&folder).unwrap();
        let mut command = bench.command(&format!("cp s3://box/{key} down/f {flags}"));
        command.env("AWS_CONFIG_FILE", "config");
        let mut child = under(mask, &command).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_mins(1);
        let seen = loop {
            let found = fs::read_dir(&folder).unwrap().next();
            let mode = found.map(|entry| entry.unwrap()).and_then(|entry| {
                let metadata = entry.metadata().ok()?;
                Some(metadata.permissions().mode() & 0o777)
            });
            if let Some(mode) = mode {
                break mode;
            }
            assert!(Instant::now() < deadline, "no file came");
            std::thread::sleep(Duration::from_millis(1));
        };
        assert_eq!(seen & !open, 0, "{key} {flags} under {mask:03o}: {seen:03o}");
        assert!(child.wait().unwrap().success());
        assert_eq!(mode(&folder.join("f")), open, "{key} {flags} under {mask:03o}");
        fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn what_a_server_keeps_has_the_permissions_of_the_umask() {
    for mask in MASKS {
        let bench = Bench::new();
        let store = bench.folder().join("store");
        let command = bench
            .command("serve store --address 127.0.0.1:0 --stop-with-stdin --ledger store/ledger");
        fs::create_dir(&store).unwrap();
        fs::set_permissions(&store, fs::Permissions::from_mode(0o777 & !mask)).unwrap();
        let mut server = under(mask, &command);
        let mut server = server
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = std::io::BufReader::new(server.stdout.take().unwrap());
        let lines = std::io::BufRead::lines(lines).take(5).map(Result::unwrap);
        let url = lines
            .filter_map(|line| line.strip_prefix("export AWS_ENDPOINT_URL=").map(str::to_owned));
        let url = url.collect::<String>();
        bench.file("f", "1");
        bench.file("large", &"x".repeat(20 << 20));
        for args in
            ["mb s3://box", "cp f s3://box/d/f", "cp large s3://box/l", "cp f s3://box//..//x"]
        {
            let output = bench.command(args).env("AWS_ENDPOINT_URL", &url).output().unwrap();
            assert!(output.status.success(), "{args}: {output:?}");
        }
        drop(server.stdin.take());
        assert!(server.wait().unwrap().success());
        assert_modes(&store, mask);
    }
}
