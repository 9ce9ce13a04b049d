//! `summarize`.

use std::path::PathBuf;

use super::{Environment, ListingSettings, Settings};
use crate::args::SummarizeArgs;
use crate::env_vars;
use crate::failure::Failure;
use crate::render::summary::SummaryFormat;

/// `summarize`.
#[derive(Clone, Debug)]
pub(crate) struct SummarizeSettings {
    /// What to list.
    pub(crate) listing: ListingSettings,
    /// Levels of folders.
    pub(crate) depth: usize,
    /// Rows of rankings.
    pub(crate) top: usize,
    /// How it is written.
    pub(crate) format: SummaryFormat,
    /// Incomplete multipart uploads, too.
    pub(crate) uploads: bool,
    /// All versions of objects.
    pub(crate) versions: bool,
    /// Where to, instead of standard output.
    pub(crate) output_file: Option<PathBuf>,
    /// Characters beyond ASCII may be written.
    pub(crate) unicode: bool,
}

impl SummarizeSettings {
    /// From flags.
    pub(crate) fn new(settings: &Settings, args: &SummarizeArgs) -> Result<Self, Failure> {
        let default = if settings.json { SummaryFormat::Json } else { SummaryFormat::Text };
        Ok(Self {
            listing: ListingSettings::new(settings, &args.listing, "summarize")?,
            depth: args.depth as usize,
            top: args.top as usize,
            format: args.format.unwrap_or(default),
            uploads: args.uploads,
            versions: args.versions,
            output_file: args.output_file.clone(),
            unicode: is_utf8(&settings.environment),
        })
    }
}

/// Whether the locale has UTF-8. Windows has no such variables, but terminals that can.
fn is_utf8(environment: &Environment) -> bool {
    let names = [env_vars::LC_ALL, env_vars::LC_CTYPE, env_vars::LANG];
    environment.first(&names).map_or(cfg!(windows), |locale| {
        let locale = locale.to_ascii_lowercase();
        locale.ends_with("utf-8") || locale.ends_with("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_of_the_locale_decides() {
        let is = |pairs: &[(&str, &str)]| is_utf8(&Environment::of(pairs));
        assert!(is(&[("LANG", "de_DE.UTF-8")]));
        assert!(is(&[("LANG", "C"), ("LC_CTYPE", "C.utf8")]));
        assert!(!is(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]));
        assert_eq!(is(&[]), cfg!(windows));
    }
}
