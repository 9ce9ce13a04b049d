//! The licences of the crates in a binary, which those who pass it on have to pass on, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use support::process;

/// How files with licences begin.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// The licences of what an SBOM lists, each text once.
pub(super) fn of(sbom: &str) -> Result<String> {
    let metadata =
        process::run_quietly(&mut process::cargo(&["metadata", "--format-version=1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let listed = listed(&serde_json::from_str(sbom)?);
    let mut crates = BTreeMap::new();
    let mut texts = BTreeMap::<String, BTreeSet<String>>::new();
    for package in metadata["packages"].as_array().context("cargo lists no packages")? {
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        // Ours have the licence of the package itself.
        if package["source"].is_null() || !listed.contains(&name) {
            continue;
        }
        for licence in licences(Path::new(text("manifest_path")))? {
            texts.entry(licence).or_default().insert(name.clone());
        }
        crates.insert(name, text("license").to_owned());
    }
    Ok(document(&crates, &texts))
}

/// Name and version of each component.
fn listed(sbom: &Value) -> BTreeSet<String> {
    let components = sbom["components"].as_array().into_iter().flatten();
    let names = components.filter_map(|component| {
        Some(format!("{} {}", component["name"].as_str()?, component["version"].as_str()?))
    });
    names.collect()
}

/// The texts beside a manifest.
fn licences(manifest: &Path) -> Result<Vec<String>> {
    let folder = manifest.parent().context("a manifest lies in no folder")?;
    let mut found = Vec::new();
    for name in super::files::names(folder)? {
        let is_licence = NAMES.iter().any(|start| name.to_uppercase().starts_with(start));
        let path = folder.join(&name);
        if is_licence && path.is_file() {
            let text = String::from_utf8_lossy(&fs::read(path)?).replace("\r\n", "\n");
            found.push(text.trim().to_owned());
        }
    }
    Ok(found)
}

fn document(
    crates: &BTreeMap<String, String>,
    texts: &BTreeMap<String, BTreeSet<String>>,
) -> String {
    let mut document = "s3haul holds code of these crates, under these licences.\n\n".to_owned();
    for (name, licence) in crates {
        _ = writeln!(document, "{name}: {licence}");
    }
    let mut texts: Vec<_> = texts.iter().collect();
    // In the order of the crates.
    texts.sort_by_key(|(text, names)| (names.first(), *text));
    for (text, names) in texts {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        _ = write!(document, "\n{}\n{}:\n\n{text}\n", "-".repeat(72), names.join(", "));
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_stands_once_with_all_that_have_it() {
        let crates = [("b 1", "MIT"), ("a 2", "ISC")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let texts = [("same", names(&["b 1", "a 2"])), ("other", names(&["b 1"]))];
        let texts = texts.map(|(text, names)| (text.to_owned(), names)).into();
        let document = document(&crates.into(), &texts);
        assert!(document.contains("\na 2: ISC\nb 1: MIT\n"), "{document}");
        assert!(document.contains("\na 2, b 1:\n\nsame\n"), "{document}");
        assert!(document.ends_with("\nb 1:\n\nother\n"), "{document}");
    }

    #[test]
    fn crates_of_a_list_have_their_texts() {
        let sbom = r#"{"components":[{"name":"anyhow","version":"NONE"}]}"#;
        let none = of(sbom).unwrap();
        assert!(!none.contains("anyhow"), "{none}");
        let manifest = process::root().join("Cargo.toml");
        assert!(licences(&manifest).unwrap()[0].contains("Apache License"));
    }
}
