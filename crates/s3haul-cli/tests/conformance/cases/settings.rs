//! Where settings come from: flags, environment, the AWS configuration.

use std::fs;

use crate::command::{Finished, Invocation};
use crate::harness::{Ctx, cases};

cases!["settings":
    profiles,
    endpoint_by_flag,
    endpoint_by_variables,
    payload_signing,
    messages_like_aws,
];

/// The command without anything in its environment that names the server or credentials.
fn bare(ctx: &Ctx<'_>, args: &[&str]) -> Invocation {
    let names = ["ENDPOINT_URL", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "DEFAULT_REGION", "REGION"];
    let whole = ctx.haul_with(args);
    names.iter().fold(whole, |invocation, name| invocation.without(&format!("AWS_{name}")))
}

fn profiles(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let (config, credentials) = (ctx.path("config"), ctx.path("credentials"));
    let url = &ctx.server.url;
    let text = format!(
        "[default]\nregion = us-east-1\nendpoint_url = http://127.0.0.1:1\n\n\
         [profile other]\nregion = us-east-1\nservices = here\ns3 =\n  addressing_style = path\n\n\
         [services here]\ns3 =\n  endpoint_url = {url}\n"
    );
    fs::write(&config, text).unwrap();
    let (id, secret) = (&ctx.server.access_key, &ctx.server.secret_key);
    let text = format!("[other]\naws_access_key_id={id}\naws_secret_access_key = {secret}\n");
    fs::write(&credentials, text).unwrap();
    let with_files = |invocation: Invocation| -> Finished {
        let invocation = invocation.variable("AWS_CONFIG_FILE", &config);
        invocation.variable("AWS_SHARED_CREDENTIALS_FILE", &credentials).run()
    };
    with_files(bare(ctx, &["cp", "f", &ctx.url("a"), "--profile", "other"])).ok();
    let by_name = bare(ctx, &["cp", "f", &ctx.url("b")]).variable("AWS_PROFILE", "other");
    with_files(by_name).ok();
    assert_eq!(ctx.remote.keys(), ["a", "b"]);
    let done = with_files(bare(ctx, &["ls", "--profile", "absent"])).code_in(&[253, 255]);
    assert!(done.err().contains("absent"), "{}", done.report());
}

fn endpoint_by_flag(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let url = ctx.server.url.clone();
    let args = ["cp", "f", &ctx.url("k"), "--endpoint-url", &url, "--region", "us-east-1"];
    ctx.haul_with(&args).variable("AWS_ENDPOINT_URL", "http://127.0.0.1:1").run().ok();
    // Global flags may also come first, as they often do with aws.
    let args = ["--endpoint-url", &url, "--region", "us-east-1", "s3", "ls", &ctx.url("")];
    let done = ctx.haul_with(&args).variable("AWS_ENDPOINT_URL", "http://127.0.0.1:1").run().ok();
    assert!(done.out().ends_with(" k\n"), "{}", done.report());
}

fn endpoint_by_variables(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let url = ctx.server.url.clone();
    let done = ctx.haul_with(&["cp", "f", &ctx.url("k")]);
    let done = done.variable("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
    done.variable("AWS_ENDPOINT_URL_S3", url).run().ok();
    assert_eq!(ctx.remote.keys(), ["k"]);
}

fn payload_signing(ctx: &Ctx<'_>) {
    ctx.file("f", &crate::trees::bytes(1, 9 << 20));
    for value in ["true", "false"] {
        let settings = format!("payload_signing_enabled={value} addressing_style=path");
        ctx.haul_configured(&settings, &["cp", "f", &ctx.url(value)]).ok();
        ctx.haul_configured(&settings, &["cp", &ctx.url(value), "back"]).ok();
        assert!(fs::read(ctx.path("back")).unwrap() == fs::read(ctx.path("f")).unwrap());
    }
}

/// Standard error of the real `aws`, but for our hints and the name of the program.
fn messages_like_aws(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    ctx.remote.put("k", b"1");
    let (k, missing) = (ctx.url("k"), format!("s3://{}-missing", ctx.bucket));
    let bucket = ctx.url("");
    let runs: [&[&str]; 10] = [
        &["cp", &ctx.url("none"), "-"],
        &["cp", &format!("{missing}/k"), "-"],
        &["cp", &ctx.url("none"), "x"],
        &["cp", "none", &k],
        &["cp", "f", &missing],
        &["cp", &k, &missing],
        &["cp", "--recursive", &missing, "x"],
        &["rb", &bucket],
        &["rm", "--recursive", &missing],
        &["ls", &missing],
    ];
    for run in runs {
        let args = [&["s3"], run].concat();
        let Some(aws) = ctx.aws(&args) else { return };
        assert_eq!(messages(&ctx.haul(&args)), messages(&aws), "{args:?}");
    }
}

fn messages(done: &Finished) -> Vec<String> {
    let err = done.err();
    let lines = err.lines().filter(|line| !line.is_empty() && !line.starts_with("hint: "));
    lines.map(|line| line.trim_start_matches("s3haul: error: ").trim_end().to_owned()).collect()
}
