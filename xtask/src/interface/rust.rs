//! The interface of the crate: items that `ompvm::api` and its public modules export, read from the
//! sources.
//!
//! An enumeration or a trait that others can match or implement in full is one line, so that an
//! addition changes it; otherwise each variant, field or function has its own.

use super::Interface;
use crate::process::root;
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

/// Folders of the crates that the interface exports items of.
const CRATES: [(&str, &str); 5] = [
    ("ompvm_cache", "src/llvm/cache"),
    ("ompvm_jit", "src/jit"),
    ("ompvm_offload", "src/offload"),
    ("ompvm_support", "src/support"),
    ("ompvm_tier", "src/tier"),
];

/// Returns the interface as it is now.
pub(super) fn interface() -> Result<Interface, String> {
    let mut items = BTreeSet::new();
    let api = root().join("src/api");
    // Names to look for in each folder, with the path that users write.
    let mut wanted: BTreeMap<PathBuf, BTreeMap<String, String>> = BTreeMap::new();
    // Exports of private modules, which the root exports again.
    let mut inner_exports: BTreeMap<String, (PathBuf, String)> = BTreeMap::new();
    for file in sources(&api)? {
        for (folder, name, exported) in exports(&file, &api)? {
            if folder != api {
                inner_exports.insert(exported, (folder, name));
            }
        }
    }
    let root_file = api.join("mod.rs");
    for (folder, name, exported) in exports(&root_file, &api)? {
        let (folder, name) = match inner_exports.get(&name) {
            Some(origin) if folder == api => origin.clone(),
            _ => (folder, name),
        };
        wanted.entry(folder).or_default().insert(name, exported);
    }
    for item in parse(&root_file)?.items {
        let Item::Mod(module) = &item else {
            if let Some(name) = public_name(&item) {
                describe(&item, &name, &mut items);
            }
            continue;
        };
        if !is_public(&module.vis) {
            continue;
        }
        let file = api.join(format!("{}.rs", module.ident));
        let path = |name: &str| format!("{}::{name}", module.ident);
        for (folder, name, exported) in exports(&file, &api)? {
            wanted
                .entry(folder)
                .or_default()
                .insert(name, path(&exported));
        }
        for inner in parse(&file)?.items {
            if let Some(name) = public_name(&inner) {
                describe(&inner, &path(&name), &mut items);
            }
            implementation(&inner, &|name| Some(path(name)), &mut items);
        }
    }
    for (folder, names) in wanted {
        let mut missing: BTreeSet<&String> = names.keys().collect();
        for file in sources(&folder)? {
            for item in parse(&file)?.items {
                if let Some(name) = public_name(&item)
                    && let Some(path) = names.get(&name)
                {
                    missing.remove(&name);
                    describe(&item, path, &mut items);
                }
                implementation(&item, &|name| names.get(name).cloned(), &mut items);
            }
        }
        if let Some(name) = missing.first() {
            return Err(format!("{} has no public item `{name}`", folder.display()));
        }
    }
    let version: Vec<&str> = env!("CARGO_PKG_VERSION").split('.').collect();
    let significant = if version[0] == "0" { 2 } else { 1 };
    Ok(Interface {
        record: "rust.txt",
        version: format!("ompvm {}", version[..significant].join(".")),
        items,
    })
}

/// Returns what a file exports by `pub use`: the folder of the crate, the name there, and the name
/// under which it is exported.
fn exports(file: &Path, api: &Path) -> Result<Vec<(PathBuf, String, String)>, String> {
    let mut found = Vec::new();
    for item in parse(file)?.items {
        if let Item::Use(item) = item
            && is_public(&item.vis)
        {
            let mut paths = Vec::new();
            flatten(&item.tree, &mut Vec::new(), &mut paths);
            for (path, exported) in paths {
                let folder = CRATES.iter().find(|(krate, _)| *krate == path[0]);
                let folder = folder.map_or_else(|| api.to_owned(), |(_, f)| root().join(f));
                let name = path.last().cloned().unwrap_or_default();
                found.push((folder, name, exported));
            }
        }
    }
    Ok(found)
}

fn parse(file: &Path) -> Result<syn::File, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    syn::parse_file(&text).map_err(|e| format!("{}: {e}", file.display()))
}

/// Returns the sources of a crate: those below its folder, without crates inside and tests.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            if !path.join("Cargo.toml").exists() {
                found.extend(sources(&path)?);
            }
        } else if path.extension().is_some_and(|x| x == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Lists the paths of a `use` tree, each with the name that it exports.
fn flatten(tree: &UseTree, path: &mut Vec<String>, out: &mut Vec<(Vec<String>, String)>) {
    let full = |name: &syn::Ident| [path.clone(), vec![name.to_string()]].concat();
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            flatten(&part.tree, path, out);
            path.pop();
        }
        UseTree::Name(name) => out.push((full(&name.ident), name.ident.to_string())),
        UseTree::Rename(name) => out.push((full(&name.ident), name.rename.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, path, out)),
        _ => {}
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|a| a.path().is_ident(name))
}

/// Returns the name of a public item.
fn public_name(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Struct(i) => (&i.vis, &i.ident),
        Item::Enum(i) => (&i.vis, &i.ident),
        Item::Trait(i) => (&i.vis, &i.ident),
        Item::Fn(i) => (&i.vis, &i.sig.ident),
        Item::Type(i) => (&i.vis, &i.ident),
        Item::Const(i) => (&i.vis, &i.ident),
        _ => return None,
    };
    is_public(visibility).then(|| name.to_string())
}

/// Writes tokens as people do.
fn text(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let tight = [
        ("(mut self", "(self"),
        (" :: ", "::"),
        (" ::", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" :", ":"),
        (" ;", ";"),
        ("' ", "'"),
        ("[ ", "["),
        (" ]", "]"),
        (", )", ")"),
        (",)", ")"),
    ];
    tight
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}

/// Adds a line for each derived trait.
fn derives(attributes: &[Attribute], path: &str, out: &mut BTreeSet<String>) {
    for attribute in attributes.iter().filter(|a| a.path().is_ident("derive")) {
        let _ = attribute.parse_nested_meta(|meta| {
            out.insert(format!("impl {} for {path}", text(&meta.path)));
            Ok(())
        });
    }
}

/// Adds the lines of an item but not of its implementations.
fn describe(item: &Item, path: &str, out: &mut BTreeSet<String>) {
    match item {
        Item::Struct(item) => {
            derives(&item.attrs, path, out);
            let generics = text(&item.generics);
            let fields: Vec<_> = item.fields.iter().collect();
            let public = fields.iter().filter(|f| is_public(&f.vis));
            let public: Vec<String> = public
                .enumerate()
                .map(|(i, f)| {
                    let name = f.ident.as_ref().map_or(i.to_string(), ToString::to_string);
                    format!("{name}: {}", text(&f.ty))
                })
                .collect();
            if !has(&item.attrs, "non_exhaustive")
                && public.len() == fields.len()
                && !fields.is_empty()
            {
                out.insert(format!(
                    "struct {path}{generics} {{ {} }}",
                    public.join(", ")
                ));
            } else {
                out.insert(format!("struct {path}{generics}"));
                out.extend(public.iter().map(|field| format!("{path}.{field}")));
            }
        }
        Item::Enum(item) => {
            derives(&item.attrs, path, out);
            let variants = item.variants.iter().map(|variant| {
                let fields = match &variant.fields {
                    Fields::Unit => String::new(),
                    fields => {
                        let fields = fields.iter().map(|f| {
                            let name = f.ident.as_ref().map_or(String::new(), |i| format!("{i}: "));
                            name + &text(&f.ty)
                        });
                        format!("({})", fields.collect::<Vec<_>>().join(", "))
                    }
                };
                format!("{}{fields}", variant.ident)
            });
            let variants: Vec<String> = variants.collect();
            if has(&item.attrs, "non_exhaustive") {
                out.insert(format!("non_exhaustive enum {path}"));
                out.extend(variants.iter().map(|variant| format!("{path}::{variant}")));
            } else {
                out.insert(format!("enum {path} {{ {} }}", variants.join(", ")));
            }
        }
        Item::Trait(item) => {
            let items = item.items.iter().map(|item| match item {
                TraitItem::Fn(f) => text(&f.sig),
                TraitItem::Const(c) => format!("const {}: {}", c.ident, text(&c.ty)),
                TraitItem::Type(t) => format!("type {}", t.ident),
                other => text(other),
            });
            let items: Vec<String> = items.collect();
            let generics = text(&item.generics);
            if text(&item.supertraits).contains("sealed") {
                out.insert(format!("sealed trait {path}{generics}"));
                out.extend(items.iter().map(|item| format!("{path}: {item}")));
            } else {
                let supertraits = text(&item.supertraits);
                out.insert(format!(
                    "trait {path}{generics}: {supertraits} {{ {} }}",
                    items.join("; ")
                ));
            }
        }
        Item::Fn(item) => {
            out.insert(format!("{path}: {}", text(&item.sig)));
        }
        Item::Type(item) => {
            out.insert(format!(
                "type {path}{} = {}",
                text(&item.generics),
                text(&item.ty)
            ));
        }
        Item::Const(item) => {
            out.insert(format!("const {path}: {}", text(&item.ty)));
        }
        _ => {}
    }
}

/// Adds the lines of an implementation for a type that `path` names.
fn implementation(item: &Item, path: &dyn Fn(&str) -> Option<String>, out: &mut BTreeSet<String>) {
    let Item::Impl(item) = item else { return };
    let syn::Type::Path(of) = &*item.self_ty else {
        return;
    };
    let Some(name) = of
        .path
        .segments
        .last()
        .and_then(|s| path(&s.ident.to_string()))
    else {
        return;
    };
    if has(&item.attrs, "cfg") {
        return;
    }
    let generics = text(&item.generics);
    if let Some((of_trait, _)) = &item.trait_ {
        out.insert(format!(
            "impl{generics} {} for {}",
            text(of_trait),
            text(&item.self_ty)
        ));
        return;
    }
    for item in &item.items {
        match item {
            ImplItem::Fn(f) if is_public(&f.vis) => {
                out.insert(format!("{name}{generics}: {}", text(&f.sig)));
            }
            ImplItem::Const(c) if is_public(&c.vis) => {
                out.insert(format!(
                    "{name}{generics}: const {}: {}",
                    c.ident,
                    text(&c.ty)
                ));
            }
            _ => {}
        }
    }
}
