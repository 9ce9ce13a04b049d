//! The order in which credentials are looked for, which is that of the AWS tools: environment, role
//! of the profile, web identity, SSO, credentials file, login, process, config file, container,
//! instance. A source that is configured and fails ends the search with its error; one that is not
//! there is passed over. A profile named by the caller takes precedence over the environment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use reqsign_aws_v4::{Credential, ECSCredentialProvider};
use reqsign_core::{Context, ProvideCredential};

use super::imds::Metadata;
use super::session::{self, Session};
use super::sts::Sts;
use super::{login, process, sso};
use crate::config::EndpointConfig;
use crate::credentials::profile::{ConfigFiles, Keys, Profile, failed, partial};
use crate::endpoint::{DEFAULT_REGION, service_host, sign_in_host};
use crate::env::{Ask, BoxFuture};
use crate::error::{Error, ErrorKind, Result};
use crate::sign::redact::Secrets;

/// Profiles that may lead to one another.
const PROFILE_DEPTH_MAX: usize = 8;
/// Name of our sessions, where the profile gives none.
const SESSION_NAME: &str = "s3haul";

/// The sources of one client.
pub(super) struct Chain {
    context: Context,
    /// Profile named by the caller.
    profile: Option<String>,
    region: Option<String>,
    /// Services other than S3 are to be reached through FIPS endpoints, too.
    fips: bool,
    /// Asks for the codes of MFA devices.
    ask: Option<Ask>,
    /// A session of such a device is in use.
    has_session: AtomicBool,
    /// The key that S3 last called expired.
    refused: Mutex<Option<String>>,
}

fn none_found() -> Error {
    failed("Unable to locate credentials")
}

impl From<Keys> for Credential {
    fn from(keys: Keys) -> Self {
        Self {
            access_key_id: keys.access_key_id,
            secret_access_key: keys.secret_access_key,
            session_token: keys.session_token,
            expires_in: None,
        }
    }
}

impl Chain {
    pub(super) fn new(context: Context, profile: Option<String>, region: Option<String>) -> Self {
        Self {
            context,
            profile,
            region,
            fips: false,
            ask: None,
            has_session: AtomicBool::default(),
            refused: Mutex::default(),
        }
    }

    pub(super) fn with_fips(self, fips: bool) -> Self {
        Self { fips, ..self }
    }

    pub(super) fn asking(self, ask: Option<Ask>) -> Self {
        Self { ask, ..self }
    }

    /// Records that S3 called a key expired: a kept session with it counts as none.
    pub(super) fn refuse(&self, access_key_id: &str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused = Some(access_key_id.to_owned());
    }

    fn is_refused(&self, found: &Credential) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.as_ref() == Some(&found.access_key_id)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.context.env_var(name).filter(|value| !value.is_empty())
    }

    /// The first credentials found. Errors show no secrets: services and programs may have put
    /// what they were given or should give into theirs.
    pub(super) async fn provide(&self) -> Result<Credential> {
        match self.find().await {
            Ok(found) => Ok(found),
            Err(error) => {
                let secrets = self.secrets().await;
                Err(error.map_texts(|text| secrets.redact(text)))
            }
        }
    }

    /// What may have been given to a service: of the environment and the profiles.
    async fn secrets(&self) -> Secrets {
        const VARIABLES: [&str; 4] = [
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_SECURITY_TOKEN",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN",
        ];
        const TOKEN_FILES: [&str; 2] =
            ["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"];
        let mut secrets = Secrets::default();
        for value in VARIABLES.iter().filter_map(|name| self.variable(name)) {
            secrets.add(value.trim().as_bytes());
        }
        if let Some(path) = self.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            secrets.add(path.as_bytes());
        }
        if let Some(url) = self.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            let query = url.split_once('?').map_or("", |(_, query)| query);
            secrets.add(query.as_bytes());
        }
        let files = self.files().await.unwrap_or_default();
        for value in files.secrets() {
            secrets.add(value.as_bytes());
        }
        let named = TOKEN_FILES.iter().filter_map(|name| self.variable(name));
        for path in named.chain(files.token_files().map(str::to_owned)) {
            if let Ok(token) = self.context.file_read(&path).await {
                secrets.add(token.trim_ascii());
            }
        }
        secrets
    }

    async fn find(&self) -> Result<Credential> {
        if self.profile.is_none()
            && let Some(found) = self.environment()?
        {
            return Ok(found);
        }
        let files = self.files().await?;
        let named = self.profile_name();
        let name = named.as_deref().unwrap_or("default");
        if files.profile(name).is_none() && named.is_some() {
            let message = format!("The config profile ({name}) could not be found");
            return Err(Error::new(ErrorKind::Config, message));
        }
        if let Some(found) = self.of_profile(&files, name, 0).await? {
            return Ok(found);
        }
        if let Some(found) = self.container().await? {
            return Ok(found);
        }
        match self.instance(&files).await {
            Ok(found) => found.ok_or_else(none_found),
            Err(error) if error.kind() == ErrorKind::Config => Err(error),
            Err(cause) => Err(none_found().with_source(cause)),
        }
    }

    fn profile_name(&self) -> Option<String> {
        self.profile
            .clone()
            .or_else(|| self.variable("AWS_DEFAULT_PROFILE"))
            .or_else(|| self.variable("AWS_PROFILE"))
    }

    async fn files(&self) -> Result<ConfigFiles> {
        let context = self.context.clone();
        let read = move || ConfigFiles::read(|name| context.env_var(name));
        tokio::task::spawn_blocking(read).await.map_err(|error| {
            Error::new(ErrorKind::Config, "configuration files could not be read")
                .with_source(error)
        })?
    }

    fn environment(&self) -> Result<Option<Credential>> {
        let Some(access_key_id) = self.variable("AWS_ACCESS_KEY_ID") else { return Ok(None) };
        let secret_access_key = self
            .variable("AWS_SECRET_ACCESS_KEY")
            .ok_or_else(|| partial("env", "AWS_SECRET_ACCESS_KEY"))?;
        let session_token =
            self.variable("AWS_SECURITY_TOKEN").or_else(|| self.variable("AWS_SESSION_TOKEN"));
        Ok(Some(Credential { access_key_id, secret_access_key, session_token, expires_in: None }))
    }

    /// What a profile gives, following `source_profile`.
    fn of_profile<'a>(
        &'a self,
        files: &'a ConfigFiles,
        name: &'a str,
        depth: usize,
    ) -> BoxFuture<'a, Result<Option<Credential>>> {
        Box::pin(async move {
            let Some(profile) = files.profile(name) else {
                return self.web_identity(files, None, depth).await;
            };
            // As in botocore, the keys of a source profile go before its role, and a token goes
            // before both.
            let has_token = profile.get("web_identity_token_file").is_some();
            let has_keys = profile.get("aws_access_key_id").is_some()
                && profile.get("aws_secret_access_key").is_some();
            if let Some(role_arn) = profile.get("role_arn")
                && !has_token
                && (depth == 0 || !has_keys)
            {
                return self.role(files, name, &profile, role_arn, depth).await.map(Some);
            }
            if let Some(found) = self.web_identity(files, Some(&profile), depth).await? {
                return Ok(Some(found));
            }
            self.plain(files, &profile).await
        })
    }

    /// SSO, credentials file, process, config file.
    async fn plain(&self, files: &ConfigFiles, profile: &Profile) -> Result<Option<Credential>> {
        if sso::is_configured(profile) {
            let amazon = self.amazon(files);
            let oidc = self.service_endpoint(("SSO_OIDC", "sso_oidc"), files)?;
            let portal = self.service_endpoint(("SSO", "sso"), files)?;
            return sso::provide(&self.context, files, profile, [oidc, portal], &amazon)
                .await
                .map(Some);
        }
        if let Some(keys) = profile.shared_keys()? {
            return Ok(Some(keys.into()));
        }
        if let Some(session) = profile.get("login_session") {
            return self.login(files, session).await.map(Some);
        }
        if let Some(command) = profile.get("credential_process") {
            return process::run(&self.context, command).await.map(Some);
        }
        Ok(profile.config_keys()?.map(Credential::from))
    }

    async fn login(&self, files: &ConfigFiles, session: &str) -> Result<Credential> {
        let amazon =
            || format!("https://{}", sign_in_host(&self.amazon(files), &self.sts_region(files)));
        let configured = self.service_endpoint(("SIGNIN", "signin"), files)?;
        let endpoint = configured.unwrap_or_else(amazon);
        let folder = self.variable("AWS_LOGIN_CACHE_DIRECTORY");
        login::provide(&self.context, session, folder.as_deref(), &endpoint).await
    }

    async fn role(
        &self,
        files: &ConfigFiles,
        name: &str,
        profile: &Profile,
        role_arn: &str,
        depth: usize,
    ) -> Result<Credential> {
        if depth >= PROFILE_DEPTH_MAX {
            return Err(failed("Infinite loop in credential configuration detected"));
        }
        let source = self.role_source(files, name, profile, depth);
        let parameters = role_parameters(profile, role_arn);
        let Some(serial) = profile.get("mfa_serial") else {
            return self.assume(files, &source.await?, parameters).await;
        };
        let found = self.role_with_code(files, parameters, serial, source).await?;
        self.has_session.store(true, Ordering::Relaxed);
        Ok(found)
    }

    /// What a role is assumed with.
    async fn role_source(
        &self,
        files: &ConfigFiles,
        name: &str,
        profile: &Profile,
        depth: usize,
    ) -> Result<Credential> {
        let credential_source = profile.get("credential_source");
        if let Some(source) = profile.get("source_profile") {
            if credential_source.is_some() {
                let message = format!(
                    "The profile \"{name}\" contains both source_profile and credential_source."
                );
                return Err(failed(message));
            }
            if files.profile(source).is_none() {
                let message = format!(
                    "The source_profile \"{source}\" referenced in the profile \"{name}\" does \
                     not exist."
                );
                return Err(failed(message));
            }
            let found = if source == name {
                let keys = profile.shared_keys()?;
                if keys.is_some() { keys } else { profile.config_keys()? }.map(Credential::from)
            } else {
                self.of_profile(files, source, depth + 1).await?
            };
            found.ok_or_else(|| {
                failed(format!("The source_profile \"{source}\" must have credentials."))
            })
        } else if let Some(source) = credential_source {
            self.credential_source(files, source).await
        } else {
            // The profile's own keys are not those of the role.
            Err(partial("assume-role", "source_profile or credential_source"))
        }
    }

    /// A role that asks for an MFA code: the session that is kept, or a new one.
    async fn role_with_code(
        &self,
        files: &ConfigFiles,
        mut parameters: Vec<(&str, &str)>,
        serial: &str,
        source: impl Future<Output = Result<Credential>>,
    ) -> Result<Credential> {
        parameters.push(("SerialNumber", serial));
        let session = Session::new(&self.context, &parameters)?;
        let is_in_use = self.has_session.load(Ordering::Relaxed);
        let kept = async || session.kept().await.filter(|kept| !self.is_refused(kept));
        let is_enough = |kept: &Credential| is_in_use || session::lasts(kept);
        if let Some(kept) = kept().await.filter(|kept| self.ask.is_none() || is_enough(kept)) {
            return Ok(kept);
        }
        // First, for a source that needs a code takes the turn, too.
        let source = source.await?;
        let _turn = session::TURN.lock().await;
        let _lock = if self.ask.is_some() { session.lock().await } else { None };
        // Another lookup or process may have begun a session meanwhile.
        let kept = kept().await;
        if let Some(kept) = kept.clone().filter(is_enough) {
            return Ok(kept);
        }
        let code = match (session.ask_code(self.ask.as_ref()).await, kept) {
            (Ok(code), _) if code.is_empty() => return Err(session.no_code("none was entered")),
            (Ok(code), _) => code,
            // The rest of the old session is better than none where no question is possible.
            (Err(_), Some(kept)) => return Ok(kept),
            (Err(error), None) => return Err(error),
        };
        parameters.push(("TokenCode", &code));
        let found = self.assume(files, &source, parameters).await?;
        session.keep(&found).await;
        Ok(found)
    }

    async fn credential_source(&self, files: &ConfigFiles, source: &str) -> Result<Credential> {
        let found = match source {
            "Environment" => self.environment()?,
            "EcsContainer" => self.container().await?,
            "Ec2InstanceMetadata" => self.instance(files).await?,
            _ => return Err(failed(format!("Unsupported credential_source: {source}"))),
        };
        found.ok_or_else(|| failed(format!("No credentials found in credential_source: {source}")))
    }

    /// The profile that the caller or the environment names. It says where services are, whichever
    /// profile's role or token is sent there.
    fn selected(&self, files: &ConfigFiles) -> Option<Profile> {
        files.profile(self.profile_name().as_deref().unwrap_or("default"))
    }

    fn sts_region(&self, files: &ConfigFiles) -> String {
        self.region
            .clone()
            .or_else(|| self.variable("AWS_REGION"))
            .or_else(|| self.variable("AWS_DEFAULT_REGION"))
            .or_else(|| self.selected(files)?.get("region").map(str::to_owned))
            .unwrap_or_else(|| DEFAULT_REGION.to_owned())
    }

    /// The endpoint that is configured for a service instead of Amazon's. `variable` is the service
    /// in `AWS_ENDPOINT_URL_…`, `section` its name in a `services` section.
    pub(super) fn service_endpoint(
        &self,
        (variable, section): (&str, &str),
        files: &ConfigFiles,
    ) -> Result<Option<String>> {
        let selected = self.selected(files);
        let profile = selected.as_ref();
        let ignored = self
            .variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
            .or_else(|| profile?.get("ignore_configured_endpoint_urls").map(str::to_owned));
        if ignored.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let own = profile.map(|profile| profile.endpoint_url_of(section)).transpose()?.flatten();
        let own = own.map(str::to_owned);
        // The token of a profile that was named goes to that profile's service, not to the one that
        // the environment names for others.
        let first = own.clone().filter(|_| self.profile.is_some());
        let of_service = self.variable(&format!("AWS_ENDPOINT_URL_{variable}"));
        let url = of_service.or(first).or_else(|| self.variable("AWS_ENDPOINT_URL")).or(own);
        match url {
            Some(url) if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) => {
                let message =
                    format!("the endpoint configured for {section} is not an http or https URL");
                Err(Error::new(ErrorKind::Config, message))
            }
            url => Ok(url),
        }
    }

    /// Which endpoints of Amazon's are used. Those of S3 may be dual-stack while others are not.
    fn amazon(&self, files: &ConfigFiles) -> EndpointConfig {
        let dualstack = self
            .variable("AWS_USE_DUALSTACK_ENDPOINT")
            .or_else(|| self.selected(files)?.get("use_dualstack_endpoint").map(str::to_owned))
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        EndpointConfig { dualstack, fips: self.fips, ..EndpointConfig::default() }
    }

    fn sts(&self, files: &ConfigFiles) -> Result<Sts<'_>> {
        let region = self.sts_region(files);
        let amazon = || format!("https://{}/", service_host(&self.amazon(files), "sts", &region));
        let configured = self.service_endpoint(("STS", "sts"), files)?;
        let endpoint = configured.unwrap_or_else(amazon);
        Ok(Sts { context: &self.context, region, endpoint })
    }

    async fn assume(
        &self,
        files: &ConfigFiles,
        source: &Credential,
        mut parameters: Vec<(&str, &str)>,
    ) -> Result<Credential> {
        // Last, and not where the parameters are made: a kept session is found by those that are
        // configured.
        if parameters.iter().all(|(name, _)| *name != "RoleSessionName") {
            parameters.push(("RoleSessionName", SESSION_NAME));
        }
        self.sts(files)?.assume(source, &parameters).await
    }

    /// The role of a token. Unless a profile was named, each value of the environment goes before
    /// that of the profile.
    async fn web_identity(
        &self,
        files: &ConfigFiles,
        profile: Option<&Profile>,
        depth: usize,
    ) -> Result<Option<Credential>> {
        let setting = |variable: &str, name: &str| {
            let of_environment =
                (self.profile.is_none() && depth == 0).then(|| self.variable(variable)).flatten();
            of_environment.or_else(|| profile?.get(name).map(str::to_owned))
        };
        let Some(path) = setting("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file") else {
            return Ok(None);
        };
        let role_arn = setting("AWS_ROLE_ARN", "role_arn").ok_or_else(|| {
            failed("a web identity token file is configured, but neither AWS_ROLE_ARN nor role_arn")
        })?;
        let session = setting("AWS_ROLE_SESSION_NAME", "role_session_name");
        let read = self.context.file_read(&path).await;
        let token = read
            .map_err(|error| failed(format!("could not read the web identity token: {error}")))?;
        let token = String::from_utf8_lossy(&token);
        let parameters = [
            ("RoleArn", role_arn.as_str()),
            ("RoleSessionName", session.as_deref().unwrap_or(SESSION_NAME)),
            ("WebIdentityToken", token.trim()),
        ];
        self.sts(files)?.assume_with_token(&parameters).await.map(Some)
    }

    async fn container(&self) -> Result<Option<Credential>> {
        let service = ECSCredentialProvider::new();
        let mut service = match (
            self.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
            self.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
        ) {
            (Some(path), _) => service.with_relative_uri(path),
            (None, Some(url)) => service.with_endpoint(url),
            (None, None) => return Ok(None),
        };
        if let Some(path) = self.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            service = service.with_auth_token_file(path);
        }
        required(service.provide_credential(&self.context).await).map(Some)
    }

    /// Credentials of the instance's role.
    async fn instance(&self, files: &ConfigFiles) -> Result<Option<Credential>> {
        match self.metadata(files)? {
            Some(metadata) => metadata.provide().await,
            None => Ok(None),
        }
    }

    /// The region of the instance.
    pub(super) async fn region(&self) -> Result<Option<String>> {
        match self.metadata(&self.files().await?)? {
            Some(metadata) => metadata.region().await,
            None => Ok(None),
        }
    }

    /// The metadata service of the instance, unless it is not to be asked.
    fn metadata(&self, files: &ConfigFiles) -> Result<Option<Metadata<'_>>> {
        let is_disabled = self
            .variable("AWS_EC2_METADATA_DISABLED")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if is_disabled {
            return Ok(None);
        }
        let profile = self.selected(files);
        let setting = |variable: &str, name: &str| {
            let own = || profile.as_ref()?.get(name).map(str::to_owned);
            self.variable(variable).or_else(own)
        };
        Metadata::new(&self.context, setting).map(Some)
    }
}

/// What is configured of a role.
fn role_parameters<'p>(profile: &'p Profile, role_arn: &'p str) -> Vec<(&'p str, &'p str)> {
    let seconds = profile.get("duration_seconds").map(str::trim);
    let seconds = seconds.filter(|seconds| seconds.parse::<u32>().is_ok());
    let mut parameters = vec![("RoleArn", role_arn)];
    parameters.extend(profile.get("role_session_name").map(|name| ("RoleSessionName", name)));
    parameters.extend(profile.get("external_id").map(|id| ("ExternalId", id)));
    parameters.extend(seconds.map(|seconds| ("DurationSeconds", seconds)));
    parameters
}

fn required(result: reqsign_core::Result<Option<Credential>>) -> Result<Credential> {
    match result {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(none_found()),
        Err(error) => Err(failed(error.to_string())),
    }
}
