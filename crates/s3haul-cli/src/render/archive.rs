//! Archive status of objects, as `restore --status` prints it.

use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use s3haul::location::ObjectName;
use serde::Serialize;

use super::escape::push_name;
use super::json;

/// What is known of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArchiveRow<'a> {
    /// The object.
    pub(crate) object: &'a ObjectName,
    /// Its storage class.
    pub(crate) storage_class: &'a str,
    /// `archived`, `in progress`, `restored` or `not archived`.
    pub(crate) state: &'static str,
    /// HTTP date until which it is restored.
    pub(crate) until: Option<&'a str>,
}

#[derive(Serialize)]
struct ArchiveLine<'a> {
    bucket: &'a str,
    key: &'a str,
    storage_class: &'a str,
    state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

impl ArchiveRow<'_> {
    /// Appends the object's address, a tab and its state.
    pub(crate) fn push(&self, buffer: &mut Vec<u8>, escape: bool) {
        let ObjectName { bucket, key, .. } = self.object;
        push_name(buffer, &format!("s3://{bucket}/{key}"), escape);
        let until = self.until().map(|until| format!(" until {until}")).unwrap_or_default();
        buffer.push(b'\t');
        push_name(buffer, &format!("{}{until}", self.state), escape);
        buffer.push(b'\n');
    }

    /// Appends the event of `--json`.
    pub(crate) fn push_event(&self, buffer: &mut Vec<u8>) {
        let ObjectName { bucket, key, .. } = self.object;
        let (storage_class, state) = (self.storage_class, self.state);
        let fields = ArchiveLine { bucket, key, storage_class, state, until: self.until() };
        json::push(buffer, "archive", fields);
    }

    /// The date in the form of ISO 8601, or as the server wrote it.
    fn until(&self) -> Option<String> {
        let text = self.until?;
        let time = rfc2822::parse(text).ok().map(|time| time.with_time_zone(TimeZone::UTC));
        let iso = time.map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        Some(iso.unwrap_or_else(|| text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What programs parse.
    #[test]
    fn states_have_their_lines() {
        let object = ObjectName::new("b", "k");
        let until = Some("Fri, 21 Dec 2012 00:00:00 GMT");
        let row =
            ArchiveRow { object: &object, storage_class: "GLACIER", state: "restored", until };
        let mut buffer = Vec::new();
        row.push(&mut buffer, false);
        ArchiveRow { state: "in progress", until: None, ..row }.push(&mut buffer, false);
        ArchiveRow { until: Some("soon"), ..row }.push(&mut buffer, false);
        row.push_event(&mut buffer);
        assert_eq!(
            String::from_utf8(buffer).unwrap(),
            "s3://b/k\trestored until 2012-12-21T00:00:00Z\ns3://b/k\tin progress\n\
             s3://b/k\trestored until soon\n\
             {\"v\":1,\"event\":\"archive\",\"bucket\":\"b\",\"key\":\"k\",\
             \"storage_class\":\"GLACIER\",\"state\":\"restored\",\
             \"until\":\"2012-12-21T00:00:00Z\"}\n"
        );
    }
}
