//! Flags of all commands, accepted before and after the command's name.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressChoice {
    /// As a bar on a terminal.
    #[default]
    Auto,
    /// As a line every 10 seconds.
    Plain,
    /// Not at all.
    None,
}

/// What a profile that was named for one side of a command decides for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SideProfile {
    pub(crate) credentials: bool,
    pub(crate) endpoint_url: bool,
    pub(crate) region: bool,
}

/// Flags of all commands.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Use this profile of ~/.aws/config and ~/.aws/credentials.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// What the profile decides, whatever flags and variables say that hold for both sides.
    #[arg(skip)]
    pub(crate) side_profile: SideProfile,
    /// Send requests to this region, and make buckets in it.
    #[arg(long, global = true, value_name = "REGION")]
    pub(crate) region: Option<String>,
    /// Send requests to this URL instead of Amazon's.
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) endpoint_url: Option<String>,
    /// Do not sign requests, to read public data without credentials.
    #[arg(long, global = true)]
    pub(crate) no_sign_request: bool,
    /// Do not verify the certificate of the S3 server. Anyone on the network path can then read and
    /// change the data. Sources of credentials (STS, SSO) are verified in any case.
    #[arg(long, global = true)]
    pub(crate) no_verify_ssl: bool,
    /// Trust the certificate authorities of this PEM file instead of the system's.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca_bundle: Option<PathBuf>,
    /// Give up after this many seconds without a byte from the server; 0 waits forever. After an
    /// upload the wait is up to 64 seconds longer (one for each 64 KiB that may still be in
    /// transit), and copies by the server and completions of multipart uploads may take half an
    /// hour.
    #[arg(long, global = true, value_name = "SECONDS")]
    pub(crate) cli_read_timeout: Option<u64>,
    /// Give up opening a connection after this many seconds; 0 waits forever.
    #[arg(long, global = true, value_name = "SECONDS")]
    pub(crate) cli_connect_timeout: Option<u64>,
    /// Send at most this many requests at a time, by default 512. Within this limit the number
    /// adapts to what the service can serve.
    #[arg(long, global = true, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_concurrent_requests: Option<u32>,
    /// Send at most this many requests per second.
    #[arg(long, global = true, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests_per_second: Option<u32>,
    /// Use at most about this much memory, such as 512MiB, by holding less data and sending fewer
    /// requests at a time; 112MiB is the least. By default the limits of the container and of
    /// `ulimit -v` apply.
    #[arg(long, global = true, value_name = "SIZE")]
    pub(crate) max_memory: Option<String>,
    /// Transfer at most this much per second, such as 50MB/s or 400Mb/s.
    #[arg(long, global = true, value_name = "RATE")]
    pub(crate) max_bandwidth: Option<String>,
    /// Write one JSON object a line to standard output instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do not show progress.
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
    /// Show the progress of transfers as a bar on a terminal (auto), as a line to standard error
    /// every 10 seconds (plain), or not at all (none).
    #[arg(long, global = true, value_enum, value_name = "HOW")]
    pub(crate) progress: Option<ProgressChoice>,
    /// Serve metrics for Prometheus on this address, such as 127.0.0.1:9469, under /metrics, while
    /// the command runs.
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(crate) metrics_listen: Option<String>,
    /// Write metrics for Prometheus to this file every 5 seconds and at the end, for the textfile
    /// collector of its node exporter.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) metrics_file: Option<PathBuf>,
    /// Send metrics and traces to this OpenTelemetry collector every 5 seconds and at the end, as
    /// JSON over HTTP, for which collectors listen on port 4318.
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,
    /// Give all metrics this label. May be given many times.
    #[arg(long, global = true, value_name = "NAME=VALUE")]
    pub(crate) label: Vec<String>,
    /// Colour messages on a terminal (auto), always (on) or never (off).
    #[arg(long, global = true, value_enum, value_name = "WHEN")]
    pub(crate) color: Option<ColorChoice>,
    /// Neither use nor keep what long listings find out about where keys are. It is kept in the
    /// cache folder, and the next listing of the same prefix begins everywhere at once.
    #[arg(long, global = true)]
    pub(crate) no_hints: bool,
    /// Log what the program does to standard error.
    #[arg(long, global = true)]
    pub(crate) debug: bool,
    /// Accepted for compatibility; the commands here print their own format. Use --json for
    /// output that programs read.
    #[arg(long, global = true, value_name = "FORMAT")]
    #[arg(value_parser = ["json", "text", "table", "yaml", "yaml-stream", "off"])]
    pub(crate) output: Option<String>,
    /// Refused: the commands here have no output to query. Use --json and a JSON tool.
    #[arg(long, global = true, value_name = "EXPRESSION", hide = true)]
    pub(crate) query: Option<String>,
    /// Accepted for compatibility; the commands here always read all pages.
    #[arg(long, global = true, hide = true)]
    pub(crate) no_paginate: bool,
    /// Accepted for compatibility; there is no pager.
    #[arg(long, global = true, hide = true)]
    pub(crate) no_cli_pager: bool,
    /// Refused: there are no prompts.
    #[arg(long, global = true, hide = true)]
    pub(crate) cli_auto_prompt: bool,
    /// Accepted for compatibility; there are no prompts.
    #[arg(long, global = true, hide = true)]
    pub(crate) no_cli_auto_prompt: bool,
    /// Accepted for compatibility; no flag here takes binary values.
    #[arg(long, global = true, hide = true, value_parser = ["base64", "raw-in-base64-out"])]
    pub(crate) cli_binary_format: Option<String>,
    /// Accepted for compatibility; errors are text, and with --json JSON.
    #[arg(long, global = true, hide = true)]
    #[arg(value_parser = ["legacy", "json", "yaml", "text", "table", "enhanced"])]
    pub(crate) cli_error_format: Option<String>,
}

impl GlobalArgs {
    /// Whether no progress is to be shown.
    pub(crate) fn hides_progress(&self) -> bool {
        self.no_progress || self.progress == Some(ProgressChoice::None)
    }

    /// These flags, and for those that are not given the ones of a command around this one.
    pub(crate) fn within(self, outer: &Self) -> Self {
        let outer = outer.clone();
        Self {
            profile: self.profile.or(outer.profile),
            side_profile: self.side_profile,
            region: self.region.or(outer.region),
            endpoint_url: self.endpoint_url.or(outer.endpoint_url),
            no_sign_request: self.no_sign_request || outer.no_sign_request,
            no_verify_ssl: self.no_verify_ssl || outer.no_verify_ssl,
            ca_bundle: self.ca_bundle.or(outer.ca_bundle),
            cli_read_timeout: self.cli_read_timeout.or(outer.cli_read_timeout),
            cli_connect_timeout: self.cli_connect_timeout.or(outer.cli_connect_timeout),
            max_concurrent_requests: self.max_concurrent_requests.or(outer.max_concurrent_requests),
            max_requests_per_second: self.max_requests_per_second.or(outer.max_requests_per_second),
            max_memory: self.max_memory.or(outer.max_memory),
            max_bandwidth: self.max_bandwidth.or(outer.max_bandwidth),
            json: self.json || outer.json,
            no_progress: self.no_progress || outer.no_progress,
            progress: self.progress.or(outer.progress),
            metrics_listen: self.metrics_listen.or(outer.metrics_listen),
            metrics_file: self.metrics_file.or(outer.metrics_file),
            otlp_endpoint: self.otlp_endpoint.or(outer.otlp_endpoint),
            label: if self.label.is_empty() { outer.label } else { self.label },
            color: self.color.or(outer.color),
            no_hints: self.no_hints || outer.no_hints,
            debug: self.debug || outer.debug,
            output: self.output.or(outer.output),
            query: self.query.or(outer.query),
            no_paginate: self.no_paginate || outer.no_paginate,
            no_cli_pager: self.no_cli_pager || outer.no_cli_pager,
            cli_auto_prompt: self.cli_auto_prompt || outer.cli_auto_prompt,
            no_cli_auto_prompt: self.no_cli_auto_prompt || outer.no_cli_auto_prompt,
            cli_binary_format: self.cli_binary_format.or(outer.cli_binary_format),
            cli_error_format: self.cli_error_format.or(outer.cli_error_format),
        }
    }
}
