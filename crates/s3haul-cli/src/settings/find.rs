//! `find`: what it has beside `list`.

use s3haul::plan::conditions::{LabelError, Labels, NameGlob};
use s3haul::plan::s3_uri;

use super::list::{check_table, fields, format};
use super::{ListSettings, ListingSettings, Settings};
use crate::args::{FindArgs, FindFormat};
use crate::failure::Failure;
use crate::render::listing::{Field, Format};

/// Conditions on objects that need more than a listing.
#[derive(Clone, Debug)]
pub(crate) struct FindSettings {
    /// Tags.
    pub(crate) tags: Labels,
    /// Metadata.
    pub(crate) metadata: Labels,
}

impl FindSettings {
    /// Whether it takes requests.
    pub(crate) fn asks(&self) -> bool {
        !self.tags.is_empty() || !self.metadata.is_empty()
    }
}

impl ListSettings {
    /// For `find`.
    pub(crate) fn find(settings: &Settings, args: &FindArgs) -> Result<Self, Failure> {
        let path = &args.listing.path;
        if !s3_uri::is_s3(path) {
            return Err(Failure::usage(format!(
                "find looks for objects, and `{path}` is not their address: write \
                 s3://BUCKET/PREFIX"
            )));
        }
        let format = format(args.format.map(Format::from), Format::Addresses, settings.json)?;
        check_table(&args.table, format)?;
        let usual = usual_fields(args.versions);
        let labels = |flag: &str, texts: &[String]| {
            let usage = |error: LabelError| Failure::usage(format!("{flag} {error}"));
            Labels::parse(texts.iter().map(String::as_str)).map_err(usage)
        };
        let mut listing = ListingSettings::new(settings, &args.listing, "find")?;
        let globs = args.names.iter().map(|name| NameGlob::new(name));
        listing.selection.conditions.names = globs.collect();
        Ok(Self {
            listing,
            sort: args.table.sort,
            versions: args.versions,
            format,
            fields: fields(&args.table.fields, &usual, args.versions)?,
            header: !args.table.no_header,
            output_file: args.table.output_file.clone(),
            human_readable: false,
            summarize: args.summarize,
            find: Some(FindSettings {
                tags: labels("--tag", &args.tags)?,
                metadata: labels("--metadata", &args.metadata)?.with_lower_keys(),
            }),
        })
    }
}

/// Those of `list`, and the bucket first: what is found is named by both.
fn usual_fields(versions: bool) -> Vec<Field> {
    let of_list = if versions { &Field::OF_VERSIONS[..] } else { &Field::OF_OBJECTS[..] };
    std::iter::once(Field::Bucket).chain(of_list.iter().copied()).collect()
}

impl From<FindFormat> for Format {
    fn from(choice: FindFormat) -> Self {
        match choice {
            FindFormat::Text => Self::Addresses,
            FindFormat::Jsonl => Self::Jsonl,
            FindFormat::Csv => Self::Csv,
            FindFormat::Tsv => Self::Tsv,
            FindFormat::Parquet => Self::Parquet,
        }
    }
}
