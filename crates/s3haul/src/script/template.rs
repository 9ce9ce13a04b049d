//! Plain templates for keys: `{dir}/{stem}.bak{ext}`.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A template was written wrongly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// There is no such field.
    #[error(
        "there is no field `{{{name}}}` (character {position}): the fields are {}; write {{{{ and \
         }}}} for braces",
        Fields
    )]
    UnknownField {
        /// The field as written.
        name: String,
        /// Its first character, from 1.
        position: usize,
    },
    /// There is nothing in it.
    #[error("it is empty: write the new key, such as `{{dir}}/{{stem}}.bak{{ext}}`")]
    Empty,
    /// A brace has no partner.
    #[error("a `{brace}` stands alone (character {position}): write it twice for a plain brace")]
    LoneBrace {
        /// The brace.
        brace: char,
        /// Its place, from 1.
        position: usize,
    },
}

struct Fields;

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = FIELDS.iter().map(|(name, _)| format!("{{{name}}}")).collect();
        f.write_str(&names.join(" "))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Key,
    Directory,
    Name,
    Stem,
    Extension,
    Year,
    Month,
    Day,
}

const FIELDS: &[(&str, Field)] = &[
    ("key", Field::Key),
    ("dir", Field::Directory),
    ("name", Field::Name),
    ("stem", Field::Stem),
    ("ext", Field::Extension),
    ("year", Field::Year),
    ("month", Field::Month),
    ("day", Field::Day),
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Field),
}

/// A template, checked. For the key `a/b/photo.jpg`: `{key}` is all of it, `{dir}` is `a/b`,
/// `{name}` is `photo.jpg`, `{stem}` is `photo`, `{ext}` is `.jpg`; `{year}`, `{month}` and
/// `{day}` are of the object's last modification in UTC. `{{` and `}}` are braces.
///
/// For a key without a folder `{dir}` is empty, and a `/` right after it is left out, so that
/// `{dir}/{name}` is always the key. Where a folder is, even one without a name, it stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// Checks a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let position = text[..at].chars().count() + 1;
            match character {
                '{' | '}' if characters.next_if(|(_, next)| *next == character).is_some() => {
                    plain.push(character);
                }
                '{' => {
                    let name: String = std::iter::from_fn(|| {
                        characters.next_if(|(_, next)| *next != '}').map(|(_, next)| next)
                    })
                    .collect();
                    if characters.next().is_none() {
                        return Err(TemplateError::LoneBrace { brace: '{', position });
                    }
                    push_text(&mut pieces, &mut plain);
                    pieces.push(Piece::Field(field(name, position)?));
                }
                '}' => return Err(TemplateError::LoneBrace { brace: '}', position }),
                _ => plain.push(character),
            }
        }
        push_text(&mut pieces, &mut plain);
        if pieces.is_empty() { Err(TemplateError::Empty) } else { Ok(Self { pieces }) }
    }

    /// The name for a key.
    pub fn render(&self, key: &str, last_modified_s: i64) -> String {
        let parts = Parts::of(key);
        let mut name = String::with_capacity(key.len() + 16);
        let mut omit_slash = false;
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) if omit_slash => {
                    name.push_str(text.strip_prefix('/').unwrap_or(text));
                }
                Piece::Text(text) => name.push_str(text),
                Piece::Field(field) => parts.push(*field, last_modified_s, &mut name),
            }
            omit_slash = *piece == Piece::Field(Field::Directory) && parts.directory.is_none();
        }
        name
    }
}

fn push_text(pieces: &mut Vec<Piece>, plain: &mut String) {
    if !plain.is_empty() {
        pieces.push(Piece::Text(std::mem::take(plain)));
    }
}

fn field(name: String, position: usize) -> Result<Field, TemplateError> {
    let found = FIELDS.iter().find(|(known, _)| *known == name).map(|(_, field)| *field);
    found.ok_or(TemplateError::UnknownField { name, position })
}

/// A key taken apart.
struct Parts<'a> {
    key: &'a str,
    /// None where the key has no slash.
    directory: Option<&'a str>,
    name: &'a str,
    stem: &'a str,
    /// With its dot; empty where there is none.
    extension: &'a str,
}

impl<'a> Parts<'a> {
    fn of(key: &'a str) -> Self {
        let (directory, name) = match key.rsplit_once('/') {
            Some((directory, name)) => (Some(directory), name),
            None => (None, key),
        };
        // A name that only starts with a dot has no extension.
        let dot = name.rfind('.').filter(|at| *at > 0).unwrap_or(name.len());
        let (stem, extension) = name.split_at(dot);
        Self { key, directory, name, stem, extension }
    }

    fn push(&self, field: Field, last_modified_s: i64, name: &mut String) {
        let text = match field {
            Field::Key => self.key,
            Field::Directory => self.directory.unwrap_or_default(),
            Field::Name => self.name,
            Field::Stem => self.stem,
            Field::Extension => self.extension,
            Field::Year | Field::Month | Field::Day => {
                return name.push_str(&date(field, last_modified_s));
            }
        };
        name.push_str(text);
    }
}

fn date(field: Field, seconds: i64) -> String {
    let date = Timestamp::from_second(seconds).unwrap_or_default().to_zoned(TimeZone::UTC).date();
    match field {
        Field::Year => format!("{:04}", date.year()),
        Field::Month => format!("{:02}", date.month()),
        _ => format!("{:02}", date.day()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn render(template: &str, key: &str) -> String {
        Template::parse(template).unwrap().render(key, 1_586_822_400)
    }

    #[test]
    fn fields_take_a_key_apart() {
        let all = "{dir}|{name}|{stem}|{ext}";
        assert_eq!(render(all, "a/b/photo.tar.gz"), "a/b|photo.tar.gz|photo.tar|.gz");
        assert_eq!(render(all, "photo"), "|photo|photo|");
        assert_eq!(render(all, "a/.profile"), "a|.profile|.profile|");
        assert_eq!(render(all, "a.b/c"), "a.b|c|c|");
        assert_eq!(render("{key}.backup", "ü/x"), "ü/x.backup");
        assert_eq!(render("{year}/{month}/{day}/{name}", "a/b"), "2020/04/14/b");
        assert_eq!(render("{{{name}}}", "a/b"), "{b}");
    }

    #[test]
    fn no_folder_leaves_no_slash_behind() {
        assert_eq!(render("{dir}/{stem}.bak{ext}", "a/b.txt"), "a/b.bak.txt");
        assert_eq!(render("{dir}/{stem}.bak{ext}", "b.txt"), "b.bak.txt");
        assert_eq!(render("old/{dir}/{name}", "b.txt"), "old/b.txt");
        assert_eq!(render("{dir}x/{name}", "b"), "x/b");
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let unknown = Template::parse("é{dri}/x").unwrap_err();
        let expected = TemplateError::UnknownField { name: "dri".to_owned(), position: 2 };
        assert_eq!(unknown, expected);
        assert!(unknown.to_string().contains("{dir} {name} {stem}"), "{unknown}");
        assert_eq!(Template::parse("").unwrap_err(), TemplateError::Empty);
        let lone = |text: &str| Template::parse(text).unwrap_err();
        assert_eq!(lone("a{key"), TemplateError::LoneBrace { brace: '{', position: 2 });
        assert_eq!(lone("a}"), TemplateError::LoneBrace { brace: '}', position: 2 });
    }

    proptest! {
        #[test]
        fn folder_and_name_are_the_key(key in "(/|[^/]){0,20}") {
            prop_assert_eq!(render("{dir}/{name}", &key), key.clone());
            prop_assert_eq!(render("{dir}/{stem}{ext}", &key), key);
        }

        #[test]
        fn doubled_braces_are_plain(text in "\\PC{1,20}") {
            let template = text.replace('{', "{{").replace('}', "}}");
            prop_assert_eq!(render(&template, "k"), text);
        }
    }
}
