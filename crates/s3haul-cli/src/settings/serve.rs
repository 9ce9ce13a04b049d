//! `serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use s3haul_sim::{
    DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY, DEFAULT_SYNTHETIC_BUCKET, Scenario, StoreKind, TlsFiles,
};

use super::environment::Environment;
use crate::args::{GlobalArgs, Secret, ServeArgs};
use crate::env_vars;
use crate::failure::Failure;

/// `serve`.
pub(crate) struct ServeSettings {
    /// Where to listen.
    pub(crate) address: SocketAddr,
    /// Store.
    pub(crate) store: StoreKind,
    /// Access key id.
    pub(crate) access_key: String,
    /// Secret access key.
    pub(crate) secret_key: String,
    /// Region.
    pub(crate) region: String,
    /// File for a line for each request.
    pub(crate) ledger: Option<PathBuf>,
    /// Wait before each answer.
    pub(crate) latency: Duration,
    /// Time that the restore of an archived object takes.
    pub(crate) restore_time: Duration,
    /// Random weather.
    pub(crate) weather: Option<Scenario>,
    /// TLS.
    pub(crate) tls: Option<TlsFiles>,
    /// Stop at the end of standard input.
    pub(crate) stop_with_stdin: bool,
    /// The environment as JSON.
    pub(crate) json: bool,
}

impl ServeSettings {
    /// From flags and environment.
    pub(crate) fn new(
        global: &GlobalArgs,
        args: &ServeArgs,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let given = |flag: Option<&str>, variable| {
            flag.or_else(|| environment.get(variable)).map(str::to_owned)
        };
        let secret_key = args.secret_key.as_ref().map(Secret::reveal);
        let access_key = given(args.access_key.as_deref(), env_vars::S3HAUL_SERVE_ACCESS_KEY);
        let secret_key = given(secret_key, env_vars::S3HAUL_SERVE_SECRET_KEY);
        if access_key.is_some() != secret_key.is_some() {
            return Err(Failure::usage("--access-key and --secret-key belong together"));
        }
        if [&access_key, &secret_key].iter().any(|key| key.as_deref() == Some("")) {
            return Err(Failure::usage("--access-key and --secret-key must not be empty"));
        }
        if access_key.is_none() && !args.address.ip().is_loopback() {
            return Err(Failure::usage(format!(
                "{} can be reached from other machines: set --access-key and --secret-key",
                args.address
            )));
        }
        Ok(Self {
            address: args.address,
            store: store(args)?,
            access_key: access_key.unwrap_or_else(|| DEFAULT_ACCESS_KEY.to_owned()),
            secret_key: secret_key.unwrap_or_else(|| DEFAULT_SECRET_KEY.to_owned()),
            region: global.region.clone().unwrap_or_else(|| "us-east-1".to_owned()),
            ledger: args.ledger.clone(),
            latency: args.latency.as_deref().map_or(Ok(Duration::ZERO), duration)?,
            restore_time: duration(&args.restore_time)?,
            weather: args.weather.as_deref().map(weather).transpose()?,
            tls: tls(args),
            stop_with_stdin: args.stop_with_stdin,
            json: global.json,
        })
    }
}

fn store(args: &ServeArgs) -> Result<StoreKind, Failure> {
    let bucket = || DEFAULT_SYNTHETIC_BUCKET.to_owned();
    if args.memory {
        Ok(StoreKind::Memory)
    } else if args.null {
        Ok(StoreKind::Null { hash: true })
    } else if let Some(spec) = args.synthetic.clone() {
        Ok(StoreKind::Synthetic { spec, bucket: bucket() })
    } else if let Some(path) = args.keys.clone() {
        Ok(StoreKind::KeyFile { path, bucket: bucket() })
    } else if let Some(path) = args.directory.clone() {
        Ok(StoreKind::Disk(path))
    } else {
        Err(Failure::usage("name the folder to serve"))
    }
}

/// Both files or none; clap has seen to that.
fn tls(args: &ServeArgs) -> Option<TlsFiles> {
    let (certificate, key) = (args.tls_certificate.clone()?, args.tls_key.clone()?);
    Some(TlsFiles { certificate, key })
}

fn weather(path: &Path) -> Result<Scenario, Failure> {
    Scenario::read(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// `30ms`, `1.5s` or `200us`.
fn duration(text: &str) -> Result<Duration, Failure> {
    let invalid = || Failure::usage(format!("Invalid time `{text}`: use a form such as 30ms"));
    let split = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(invalid)?;
    let scale = match &text[split..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(invalid()),
    };
    let number: f64 = text[..split].trim().parse().map_err(|_| invalid())?;
    Duration::try_from_secs_f64(number * scale).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("30ms").unwrap(), Duration::from_millis(30));
        assert_eq!(duration("1.5s").unwrap(), Duration::from_millis(1500));
        for text in ["30", "ms", "-1s", "1h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn other_machines_need_credentials() {
        let args = |address: &str| ServeArgs {
            directory: None,
            address: address.parse().unwrap(),
            memory: true,
            null: false,
            synthetic: None,
            keys: None,
            ledger: None,
            latency: None,
            restore_time: "1s".to_owned(),
            weather: None,
            access_key: None,
            secret_key: None,
            tls_certificate: None,
            tls_key: None,
            stop_with_stdin: false,
        };
        let none = Environment::default();
        let global = GlobalArgs::default();
        assert!(ServeSettings::new(&global, &args("127.0.0.1:0"), &none).is_ok());
        assert!(ServeSettings::new(&global, &args("0.0.0.0:0"), &none).is_err());
        let set = Environment::of(&[
            (env_vars::S3HAUL_SERVE_ACCESS_KEY, "a"),
            (env_vars::S3HAUL_SERVE_SECRET_KEY, "b"),
        ]);
        assert!(ServeSettings::new(&global, &args("0.0.0.0:0"), &set).is_ok());
        for (access_key, secret_key) in [("", ""), ("a", ""), ("", "b")] {
            let (access_key, secret_key) = (access_key.to_owned(), secret_key.to_owned());
            let args = ServeArgs {
                access_key: Some(access_key),
                secret_key: Some(Secret::from(secret_key)),
                ..args("0.0.0.0:0")
            };
            let failure = ServeSettings::new(&global, &args, &none).err().unwrap();
            assert_eq!(failure.status, crate::exit::USAGE, "{}", failure.message);
        }
    }
}
