//! Paths that a file names, and the module that a path leads to.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

/// Names of modules from the crate's root; empty for the root.
pub(super) type ModulePath = Vec<String>;

/// Re-exports followed from one path to the next, at most.
const RE_EXPORTS_MAX: usize = 8;

/// What a file says of other modules, outside tests.
#[derive(Default)]
pub(super) struct Names {
    /// Paths that start with `crate`, `super` or `self`, or may start with a child module; those
    /// of inline modules as if they stood outside.
    pub(super) uses: Vec<Vec<String>>,
    /// Re-exports: name, path.
    exports: BTreeMap<String, Vec<String>>,
    /// Child modules that only tests have.
    pub(super) test_modules: BTreeSet<String>,
    /// Inline modules around what is visited.
    depth: usize,
}

impl Names {
    /// Reads a file.
    pub(super) fn of(text: &str) -> syn::Result<Self> {
        let mut names = Self::default();
        names.visit_file(&syn::parse_file(text)?);
        Ok(names)
    }

    /// Adds a path as seen from the file's own module.
    fn add(&mut self, mut path: Vec<String>) {
        let supers = path.iter().take_while(|segment| *segment == "super").count();
        if self.depth > 0 {
            if supers == 0 && path[0] != "crate" {
                return;
            }
            path.drain(..supers.min(self.depth));
            if supers > 0 && supers <= self.depth {
                path.insert(0, "self".to_owned());
            }
        }
        self.uses.push(path);
    }
}

/// Whether an item is there in tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let condition = list.tokens.to_string();
        attribute.path().is_ident("cfg")
            && (condition == "test" || condition.starts_with("any (test,"))
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        } else if let Item::Mod(module) = item {
            self.test_modules.insert(module.ident.to_string());
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.content.is_some() {
            self.depth += 1;
            visit::visit_item_mod(self, module);
            self.depth -= 1;
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_private = matches!(item.vis, Visibility::Inherited);
        for (name, path) in leaves(&item.tree) {
            if is_private {
                self.add(path);
            } else if self.depth == 0 {
                self.exports.insert(name, path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        // Tokens, whose meaning only the macro knows.
        let tokens = invocation.tokens.to_string().replace(' ', "");
        for root in ["crate::", "super::"] {
            for (start, _) in tokens.match_indices(root) {
                let before = tokens[..start].chars().next_back();
                if before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':') {
                    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                    let end = tokens[start..].find(|c| !is_path(c)).unwrap_or(tokens.len() - start);
                    let path = tokens[start..start + end].split("::");
                    self.add(path.filter(|name| !name.is_empty()).map(str::to_owned).collect());
                }
            }
        }
        visit::visit_macro(self, invocation);
    }
}

/// The names that a `use` brings in, each with its path.
fn leaves(tree: &UseTree) -> Vec<(String, Vec<String>)> {
    match tree {
        UseTree::Path(path) => {
            let name = path.ident.to_string();
            let mut inner = leaves(&path.tree);
            for (leaf, path) in &mut inner {
                if path.is_empty() {
                    leaf.clone_from(&name);
                }
                path.insert(0, name.clone());
            }
            inner
        }
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
        UseTree::Name(name) if name.ident == "self" => vec![(String::new(), Vec::new())],
        UseTree::Name(name) => vec![(name.ident.to_string(), vec![name.ident.to_string()])],
        UseTree::Rename(rename) => {
            vec![(rename.rename.to_string(), vec![rename.ident.to_string()])]
        }
        UseTree::Glob(_) => vec![("*".to_owned(), vec!["*".to_owned()])],
    }
}

/// The module that defines what a path in a module leads to; `None` outside of the crate.
pub(super) fn definer(
    all: &BTreeMap<ModulePath, Names>,
    module: &[String],
    path: &[String],
) -> Option<ModulePath> {
    let (mut module, mut path) = (module.to_vec(), path.to_vec());
    for _ in 0..RE_EXPORTS_MAX {
        let full = absolute(all, &module, &path)?;
        let length = (0..=full.len()).rev().find(|length| all.contains_key(&full[..*length]))?;
        let (found, rest) = full.split_at(length);
        let export = rest.first().and_then(|name| all[found].exports.get(name));
        let Some(export) = export else { return Some(found.to_vec()) };
        path = [export, &rest[1..]].concat();
        module = found.to_vec();
        if absolute(all, &module, &path).is_none() {
            return Some(module);
        }
    }
    Some(module)
}

/// A path from the crate's root; `None` where it leads out of the crate.
fn absolute(
    all: &BTreeMap<ModulePath, Names>,
    module: &[String],
    path: &[String],
) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let supers = path.iter().take_while(|segment| *segment == "super").count();
            let base = &module[..module.len().checked_sub(supers)?];
            Some([base, &path[supers..]].concat())
        }
        _ => {
            let full = [module, path].concat();
            all.contains_key(&full[..=module.len()]).then_some(full)
        }
    }
}
