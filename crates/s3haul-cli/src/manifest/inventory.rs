//! S3 Inventory: a `manifest.json` that names files of rows in another bucket.
//!
//! One part after the other is brought into a temporary file, held against its MD5 and read.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read};

use flate2::read::MultiGzDecoder;
use s3haul::job::{Entries, ManifestEntry};
use s3haul::location::ObjectName;
use s3haul::{Error, ErrorKind};
use s3haul_wire::Client;
use s3haul_wire::error::Result;
use serde::Deserialize;

use super::fetch::fetch;
use super::file::ORC_REFUSED;
use super::parquet::ParquetEntries;
use super::row::Column;
use super::text::{TextEntries, refuse_twice};

/// Largest `manifest.json`.
const DOCUMENT_MAX: u64 = 64 * 1024 * 1024;

/// Content of `manifest.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    #[serde(default)]
    source_bucket: String,
    destination_bucket: String,
    file_format: String,
    #[serde(default)]
    file_schema: String,
    files: VecDeque<Part>,
}

/// A file of rows.
#[derive(Debug, Deserialize)]
struct Part {
    key: String,
    #[serde(rename = "MD5checksum")]
    md5: Option<String>,
}

/// How the parts are written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PartFormat {
    Csv(Vec<Option<Column>>),
    Parquet,
}

/// The entries of all parts. After an error there are no more.
pub(super) struct InventoryEntries {
    client: Client,
    /// The bucket with the parts.
    bucket: String,
    /// The bucket that is listed, for rows that name none.
    source_bucket: Option<String>,
    format: PartFormat,
    parts: VecDeque<Part>,
    current: Option<Entries>,
}

impl InventoryEntries {
    /// Reads a `manifest.json`.
    pub(super) fn new(client: Client, text: impl Read, name: &str) -> Result<Self> {
        let refused = |why: String| {
            let message = format!("`{name}` is no manifest of an S3 Inventory: {why}");
            Error::new(ErrorKind::Config, message)
        };
        let document: Document = serde_json::from_reader(text.take(DOCUMENT_MAX))
            .map_err(|error| refused(error.to_string()))?;
        if document.file_format.eq_ignore_ascii_case("ORC") {
            let message = format!("the inventory `{name}` is in {ORC_REFUSED}");
            return Err(Error::new(ErrorKind::Config, message));
        }
        let format = document.part_format().map_err(refused)?;
        let bucket = bucket_of(&document.destination_bucket).to_owned();
        let source_bucket = bucket_of(&document.source_bucket).to_owned();
        let source_bucket = Some(source_bucket).filter(|name| !name.is_empty());
        let parts = document.files;
        Ok(Self { client, bucket, source_bucket, format, parts, current: None })
    }

    /// Brings a part here.
    fn open(&self, part: Part) -> Result<Entries> {
        let object = ObjectName::new(self.bucket.clone(), part.key);
        let context = |error: Error| {
            let message = format!("could not read `{object}` of the inventory");
            Error::new(error.kind(), message).with_source(error)
        };
        let (file, md5) = fetch(&self.client, &object).map_err(context)?;
        if part.md5.is_some_and(|expected| !expected.eq_ignore_ascii_case(&md5)) {
            let message = format!(
                "`{object}` is not what the manifest of the inventory says: its MD5 is {md5}"
            );
            return Err(Error::new(ErrorKind::Integrity, message));
        }
        let name = object.to_string();
        Ok(match &self.format {
            PartFormat::Csv(columns) => Box::new(csv(file, columns, &name)),
            PartFormat::Parquet => Box::new(ParquetEntries::open(file, &name)?),
        })
    }
}

/// The name in the ARN of a bucket, or in a name as it is.
fn bucket_of(arn: &str) -> &str {
    arn.rsplit_once(":::").map_or(arn, |(_, bucket)| bucket)
}

fn csv(file: File, columns: &[Option<Column>], name: &str) -> TextEntries {
    let text = BufReader::with_capacity(64 * 1024, MultiGzDecoder::new(BufReader::new(file)));
    TextEntries::of_columns(Box::new(text), columns.to_vec(), name)
}

impl Document {
    fn part_format(&self) -> std::result::Result<PartFormat, String> {
        match self.file_format.to_ascii_uppercase().as_str() {
            "CSV" => {
                let names: Vec<_> = self.file_schema.split(',').map(str::trim).collect();
                refuse_twice(&names, Column::of)?;
                let columns: Vec<_> = names.into_iter().map(Column::of).collect();
                if !columns.contains(&Some(Column::Key)) {
                    return Err(format!("its fileSchema `{}` has no Key", self.file_schema));
                }
                Ok(PartFormat::Csv(columns))
            }
            "PARQUET" => Ok(PartFormat::Parquet),
            other => Err(format!("its files are in `{other}`, not in CSV or Parquet")),
        }
    }
}

impl Iterator for InventoryEntries {
    type Item = Result<ManifestEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.current.as_mut().and_then(Iterator::next) {
                if entry.is_err() {
                    self.parts.clear();
                    self.current = None;
                }
                return Some(entry.map(|entry| {
                    let bucket = entry.bucket.or_else(|| self.source_bucket.clone());
                    ManifestEntry { bucket, ..entry }
                }));
            }
            self.current = None;
            let part = self.parts.pop_front()?;
            match self.open(part) {
                Ok(entries) => self.current = Some(entries),
                Err(error) => {
                    self.parts.clear();
                    return Some(Err(error));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(format: &str, schema: &str) -> Document {
        let text = format!(
            "{{\"sourceBucket\":\"b\",\"destinationBucket\":\"arn:aws:s3:::inv\",\
             \"version\":\"2016-11-30\",\"creationTimestamp\":\"1514944800000\",\
             \"fileFormat\":\"{format}\",\"fileSchema\":\"{schema}\",\
             \"files\":[{{\"key\":\"d/1.csv.gz\",\"size\":7,\"MD5checksum\":\"ab\"}}]}}"
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_schema_names_the_columns() {
        let csv = document("CSV", "Bucket, Key, VersionId, IsLatest, Colour, ETag");
        let columns = [
            Some(Column::Bucket),
            Some(Column::Key),
            Some(Column::VersionId),
            Some(Column::IsLatest),
            None,
            Some(Column::Etag),
        ];
        assert_eq!(csv.part_format(), Ok(PartFormat::Csv(columns.to_vec())));
        assert_eq!(csv.files[0].md5.as_deref(), Some("ab"));
        assert!(document("CSV", "Bucket").part_format().is_err());
        assert_eq!(document("Parquet", "").part_format(), Ok(PartFormat::Parquet));
        assert!(document("AVRO", "").part_format().is_err());
    }
}
