//! Types that hold secrets do not derive `Debug`: it would print them into logs and panics.

use std::collections::BTreeSet;

use syn::visit::Visit;
use syn::{Attribute, Field, Ident, ItemEnum, ItemStruct, Type};

use super::source::{Source, Violation};

/// What names of fields with secrets contain.
const SECRET_NAMES: [&str; 8] = [
    "secret",
    "password",
    "session_token",
    "access_token",
    "refresh_token",
    "security_token",
    "user_info",
    "token_value",
];

/// Adds what breaks the rule.
pub(super) fn check(file: &Source, violations: &mut Vec<Violation>) {
    // The compiler says what is wrong with files that cannot be parsed.
    let Some(tree) = file.is_rust().then(|| syn::parse_file(&file.text).ok()).flatten() else {
        return;
    };
    let mut secrets = Secrets::default();
    secrets.visit_file(&tree);
    for name in secrets.0 {
        let field = format!("{name}: ");
        let line = file.text.lines().position(|line| line.contains(&field)).unwrap_or_default();
        let rule = format!("`{name}` is a secret: write `Debug` by hand, with `******`");
        violations.push(Violation { file: file.path.clone(), line: line + 1, rule });
    }
}

/// Fields with secrets of types that derive `Debug`.
#[derive(Default)]
struct Secrets(Vec<Ident>);

impl Secrets {
    fn look_at<'f>(&mut self, attributes: &[Attribute], fields: impl Iterator<Item = &'f Field>) {
        if attributes.iter().any(derives_debug) {
            let secret = fields.filter(|field| is_open(&field.ty));
            let names = secret.filter_map(|field| field.ident.clone());
            self.0
                .extend(names.filter(|name| {
                    SECRET_NAMES.iter().any(|part| name.to_string().contains(part))
                }));
        }
    }
}

impl<'ast> Visit<'ast> for Secrets {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.look_at(&item.attrs, item.fields.iter());
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.look_at(&item.attrs, item.variants.iter().flat_map(|variant| &variant.fields));
    }
}

fn derives_debug(attribute: &Attribute) -> bool {
    let mut is_there = false;
    if attribute.path().is_ident("derive") {
        // What is no list of names is the compiler's business.
        let _ = attribute.parse_nested_meta(|meta| {
            is_there |= meta.path.segments.last().is_some_and(|last| last.ident == "Debug");
            Ok(())
        });
    }
    is_there
}

/// Whether a type shows what it holds.
fn is_open(kind: &Type) -> bool {
    #[derive(Default)]
    struct Names(BTreeSet<String>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_ident(&mut self, name: &'ast Ident) {
            self.0.insert(name.to_string());
        }
    }
    let mut names = Names::default();
    names.visit_type(kind);
    let has = |name: &str| names.0.contains(name);
    has("String") || has("str") || has("Bytes") || (has("Vec") && has("u8"))
}

#[cfg(test)]
mod tests {
    use super::super::violations_of;

    fn broken(text: &str) -> usize {
        violations_of("crates/s3haul/src/error.rs", &format!("//! Head.\n{text}\n")).len()
    }

    #[test]
    fn secrets_that_debug_would_print_are_found() {
        for text in [
            "#[derive(Clone, Debug)]\nstruct Keys {\n    secret_key: String,\n}",
            "#[derive(\n    Debug,\n)]\n#[serde(x)]\npub struct Keys {\n    a: u8,\n    \
             pub(crate) session_token: Option<String>,\n}",
            "#[derive(Debug)]\nenum Keys {\n    Fixed {\n        password: &str,\n    },\n}",
        ] {
            assert_eq!(broken(text), 1, "{text}");
        }
        for text in [
            "#[derive(Clone)]\nstruct Keys {\n    secret_key: String,\n}",
            "#[derive(Debug)]\nstruct Keys {\n    secret_key: Option<Secret>,\n}",
            "#[derive(Debug)]\nstruct Keys(u8);\nstruct Other {\n    secret_key: String,\n}",
            "#[derive(Debug)]\nstruct Count {\n    tokens: f64,\n}",
        ] {
            assert_eq!(broken(text), 0, "{text}");
        }
    }
}
