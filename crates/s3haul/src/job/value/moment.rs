//! A moment: seconds since 1970, written as RFC 3339 in UTC.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A whole second, `2030-01-31T12:00:00Z`. One outside the years -9999 to 9999 is the first or the
/// last within.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Moment(i64);

impl Moment {
    /// The moment so many seconds after the beginning of 1970.
    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second()))
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.0
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> Self {
        let Ok(timestamp) = Timestamp::from_second(moment.0) else {
            unreachable!("the moment is within the range of timestamps: {}", moment.0)
        };
        timestamp.to_string()
    }
}

impl TryFrom<String> for Moment {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.parse::<Timestamp>() {
            Ok(timestamp) if timestamp.subsec_nanosecond() == 0 => Ok(Self(timestamp.as_second())),
            _ => {
                Err(format!("`{text}` is not a time in whole seconds such as 2030-01-31T12:00:00Z"))
            }
        }
    }
}
