//! `presign`.

use std::collections::BTreeMap;
use std::sync::Arc;

use s3haul_wire::ops::PresignedPut;
use serde::Serialize;

use crate::commands::shared::client_of_region;
use crate::exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::json;
use crate::settings::PresignSettings;

#[derive(Serialize)]
struct UrlLine<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    /// Headers that have to be sent along.
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<&'a str, &'a str>>,
}

/// Prints a URL with which anyone can read or write an object for a while.
pub(super) async fn run(settings: PresignSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let client = client_of_region(settings.client).await?;
    let (object, expires_in) = (&settings.object, settings.expires_in);
    let (bucket, key) = (&object.bucket, &object.key);
    let Some(properties) = settings.written else {
        let url = client.presign_get(bucket, key, expires_in).await?;
        print(UrlLine { url: &url, method: None, headers: None }, settings.json, printer);
        return Ok(exit::SUCCESS);
    };
    let put = client.presign_put(bucket, key, &properties, expires_in).await?;
    let pairs = put.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let headers = Some(pairs.collect());
    print(UrlLine { url: &put.url, method: Some("PUT"), headers }, settings.json, printer);
    if printer.error_is_terminal() && !settings.json {
        let hint = format!("hint: {}\n", curl(&put));
        printer.error(|buffer| buffer.extend_from_slice(hint.as_bytes()));
    }
    Ok(exit::SUCCESS)
}

fn print(line: UrlLine<'_>, is_json: bool, printer: &Printer) {
    printer.output(|buffer| {
        if is_json {
            json::push(buffer, "url", line);
        } else {
            buffer.extend_from_slice(line.url.as_bytes());
            buffer.push(b'\n');
        }
    });
}

/// The command that writes a file to the URL.
fn curl(put: &PresignedPut) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut line = String::from("curl --fail --upload-file FILE");
    for (name, value) in &put.headers {
        line.push_str(" --header ");
        line.push_str(&quoted(&format!("{name}: {value}")));
    }
    line.push(' ');
    line.push_str(&quoted(&put.url));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curl_line_is_quoted_for_a_shell() {
        let headers = vec![("x-amz-meta-a".to_owned(), "it's".to_owned())];
        let put = PresignedPut { url: "http://h/b/k?a&b".to_owned(), headers };
        let expected = "curl --fail --upload-file FILE --header 'x-amz-meta-a: it'\\''s' \
                        'http://h/b/k?a&b'";
        assert_eq!(curl(&put), expected);
    }
}
