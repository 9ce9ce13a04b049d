//! `s3://bucket/key`, with access point ARNs in place of a bucket.

use std::fmt;

use crate::location::ObjectName;

/// The scheme that makes a path an S3 path.
pub const SCHEME: &str = "s3://";

/// A resource that S3 commands cannot use, with the text of the AWS tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsupportedResource {
    /// An S3 Object Lambda access point.
    ObjectLambda,
    /// The ARN of a bucket on an Outpost.
    OutpostBucket,
}

impl fmt::Display for UnsupportedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ObjectLambda => {
                "s3 commands do not support S3 Object Lambda resources. Use `aws s3api` instead."
            }
            Self::OutpostBucket => {
                "s3 commands do not support Outpost Bucket ARNs. Use `aws s3control` instead."
            }
        })
    }
}

impl std::error::Error for UnsupportedResource {}

/// Whether a path argument is an S3 path.
pub fn is_s3(path: &str) -> bool {
    path.starts_with(SCHEME)
}

/// Splits `s3://bucket/key` or `bucket/key` into bucket (or ARN) and key.
pub fn parse(path: &str) -> Result<ObjectName, UnsupportedResource> {
    let path = path.strip_prefix(SCHEME).unwrap_or(path);
    if split_arn(path, "s3-object-lambda")
        .is_some_and(|arn| arn.access_point(&[':', '/']).is_some())
    {
        return Err(UnsupportedResource::ObjectLambda);
    }
    let outpost = split_arn(path, "s3-outposts").and_then(Arn::outpost);
    if outpost.and_then(|arn| arn.named("bucket")).is_some() {
        return Err(UnsupportedResource::OutpostBucket);
    }
    let access_point = split_arn(path, "s3")
        .and_then(|arn| arn.access_point(&['/']))
        .or_else(|| outpost.and_then(|arn| arn.named("accesspoint")));
    let (bucket, key) = access_point.unwrap_or_else(|| path.split_once('/').unwrap_or((path, "")));
    Ok(ObjectName::new(bucket, key))
}

/// Whether the bucket is a directory bucket.
pub fn is_directory_bucket(bucket: &str) -> bool {
    bucket.ends_with("--x-s3")
}

/// Which rule for the names of buckets a name breaks, `None` if it breaks none. Servers other than
/// S3 may have other rules, as S3 had in its first years.
pub fn bucket_name_problem(bucket: &str) -> Option<&'static str> {
    if bucket.contains(':') || is_alias(bucket) {
        return None;
    }
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = bucket.as_bytes();
    if bytes.iter().any(u8::is_ascii_uppercase) {
        Some("bucket names have no capital letters")
    } else if bytes.contains(&b'_') {
        Some("bucket names have no underscores")
    } else if !bytes.iter().all(|byte| is_plain(*byte) || matches!(byte, b'-' | b'.')) {
        Some("bucket names have only lower-case letters, digits, hyphens and dots")
    } else if !(3..=63).contains(&bytes.len()) {
        Some("bucket names have 3 to 63 characters")
    } else if !bytes.first().zip(bytes.last()).is_some_and(|(a, z)| is_plain(*a) && is_plain(*z)) {
        Some("bucket names begin and end with a letter or a digit")
    } else if bucket.contains("..") {
        Some("bucket names cannot have two dots in a row")
    } else if bucket.parse::<std::net::Ipv4Addr>().is_ok() {
        Some("bucket names cannot be IP addresses")
    } else {
        None
    }
}

/// Whether another bucket may stand behind this name: an access point's ARN or alias.
pub fn is_alias(bucket: &str) -> bool {
    bucket.starts_with("arn:aws") || bucket.ends_with("-s3alias") || bucket.ends_with("--op-s3")
}

/// An ARN read up to some point.
#[derive(Clone, Copy)]
struct Arn<'a> {
    whole: &'a str,
    rest: &'a str,
}

/// Reads `arn:aws…:SERVICE:REGION:ACCOUNT:`.
fn split_arn<'a>(path: &'a str, service: &str) -> Option<Arn<'a>> {
    let after = path.strip_prefix("arn:aws")?;
    let start = after.find(&format!(":{service}:"))? + service.len() + 2;
    let (region, rest) = after[start..].split_once(':')?;
    let (account, rest) = rest.split_once(':')?;
    let region_fits =
        region.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    // Only multi-region access points have no region.
    let region_fits = region_fits && (service == "s3" || !region.is_empty());
    let account_fits = account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit());
    (region_fits && account_fits).then_some(Arn { whole: path, rest })
}

impl<'a> Arn<'a> {
    /// Bucket and key when what follows is `accesspoint`, `:` or `/`, and a name that ends at one
    /// of `ends`.
    fn access_point(self, ends: &[char]) -> Option<(&'a str, &'a str)> {
        let name = self.word("accesspoint")?.rest;
        let end = name.find(ends).unwrap_or(name.len());
        (end > 0).then(|| self.split(&name[end..]))
    }

    /// Goes past `outpost/ID/`.
    fn outpost(self) -> Option<Self> {
        let inside = self.word("outpost")?;
        let length = name_length(inside.rest)?;
        let rest = inside.rest[length..].strip_prefix([':', '/'])?;
        Some(Self { rest, ..self })
    }

    /// Bucket and key when what follows is this word, `:` or `/`, and a name.
    fn named(self, word: &str) -> Option<(&'a str, &'a str)> {
        let name = self.word(word)?.rest;
        let length = name_length(name)?;
        Some(self.split(&name[length..]))
    }

    fn word(self, word: &str) -> Option<Self> {
        let rest = self.rest.strip_prefix(word)?.strip_prefix([':', '/'])?;
        Some(Self { rest, ..self })
    }

    /// Splits the whole where `rest` starts, dropping the separator before the key.
    fn split(self, rest: &'a str) -> (&'a str, &'a str) {
        let bucket = &self.whole[..self.whole.len() - rest.len()];
        (bucket, rest.strip_prefix([':', '/']).unwrap_or(rest))
    }
}

/// Length of a name of 1 to 63 letters, digits and hyphens at the start of a text.
fn name_length(text: &str) -> Option<usize> {
    const NAME_LENGTH_MAX: usize = 63;
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'-';
    let length = text.bytes().take(NAME_LENGTH_MAX).take_while(is_part).count();
    (length > 0).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_buckets_follow_rules() {
        for name in
            ["abc", "a-b.c9", "0ab", "b--x-s3", "arn:aws:s3:eu:1:accesspoint/A", "a-s3alias"]
        {
            assert_eq!(bucket_name_problem(name), None, "{name}");
        }
        for (name, part) in [
            ("UXB", "capital"),
            ("a_b", "underscores"),
            ("bücher", "lower-case letters"),
            ("a b", "lower-case letters"),
            ("ab", "3 to 63"),
            ("-ab", "begin and end"),
            ("ab.", "begin and end"),
            ("a..b", "two dots"),
            ("10.0.0.1", "addresses"),
        ] {
            assert!(bucket_name_problem(name).unwrap().contains(part), "{name}");
        }
        assert!(bucket_name_problem(&"a".repeat(64)).is_some());
    }

    fn split(path: &str) -> (String, String) {
        let name = parse(path).unwrap();
        (name.bucket, name.key)
    }

    fn pair(bucket: &str, key: &str) -> (String, String) {
        (bucket.to_owned(), key.to_owned())
    }

    #[test]
    fn plain_buckets() {
        assert_eq!(split("s3://b"), pair("b", ""));
        assert_eq!(split("s3://b/"), pair("b", ""));
        assert_eq!(split("s3://b/a/b/"), pair("b", "a/b/"));
        assert_eq!(split("b//x"), pair("b", "/x"));
    }

    #[test]
    fn access_point_arns_are_buckets() {
        let ap = "arn:aws:s3:us-west-2:123456789012:accesspoint/my-ap";
        assert_eq!(split(&format!("s3://{ap}")), pair(ap, ""));
        assert_eq!(split(&format!("s3://{ap}/a/b")), pair(ap, "a/b"));
        let colon = "arn:aws-cn:s3:cn-north-1:123456789012:accesspoint:my-ap";
        assert_eq!(split(&format!("s3://{colon}/a")), pair(colon, "a"));
        let mrap = "arn:aws:s3::123456789012:accesspoint:mfzwi23gnjvgw.mrap";
        assert_eq!(split(&format!("s3://{mrap}/a")), pair(mrap, "a"));
        let outpost = "arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-12/accesspoint/ap";
        assert_eq!(split(&format!("s3://{outpost}/a/b")), pair(outpost, "a/b"));
        assert_eq!(split(&format!("s3://{outpost}")), pair(outpost, ""));
    }

    #[test]
    fn unsupported_arns_are_refused_in_the_known_words() {
        let lambda = "s3://arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/l/k";
        let error = parse(lambda).unwrap_err();
        assert_eq!(
            error.to_string(),
            "s3 commands do not support S3 Object Lambda resources. Use `aws s3api` instead."
        );
        let bucket = "s3://arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-1/bucket/b";
        let error = parse(bucket).unwrap_err();
        assert_eq!(
            error.to_string(),
            "s3 commands do not support Outpost Bucket ARNs. Use `aws s3control` instead."
        );
    }

    #[test]
    fn what_is_no_arn_is_a_bucket() {
        assert_eq!(split("s3://arn:aws:s3:us-west-2:1:accesspoint/x"), {
            pair("arn:aws:s3:us-west-2:1:accesspoint", "x")
        });
    }
}
