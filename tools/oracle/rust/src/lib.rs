//! Lists the public items of a Rust file, as `syn` reads it: the oracle for its outlines.

use quote::ToTokens;
use syn::{Fields, ImplItem, Item, TraitItem, Visibility};

/// The maximum length of a value in an outline. Longer ones are left out.
const LONG_VALUE: usize = 80;

/// A public item.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Public {
    /// The names from the outside in, separated by full stops.
    pub path: String,
    /// Its tokens without body and comments.
    pub signature: String,
}

/// Returns the public items of a file, or `None` if `syn` cannot parse it.
pub fn public(text: &str) -> Option<Vec<Public>> {
    let file = syn::parse_file(text).ok()?;
    let mut found = Found { items: Vec::new(), text };
    file.items.iter().for_each(|item| found.item(item, ""));
    Some(found.items)
}

struct Found<'t> {
    items: Vec<Public>,
    text: &'t str,
}

impl Found<'_> {
    fn add(&mut self, above: &str, name: &str, signature: impl ToTokens) -> String {
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        self.items.push(Public { path: path.clone(), signature: without_docs(signature) });
        path
    }

    fn item(&mut self, item: &Item, above: &str) {
        if attributes(item).iter().any(is_test) {
            return;
        }
        match item {
            Item::Mod(module) if offered(&module.vis) => {
                let (vis, safety, name) = (&module.vis, &module.unsafety, &module.ident);
                let path = self.add(above, &name.to_string(), quote::quote!(#vis #safety mod #name));
                let inside = module.content.as_ref().map_or(&[][..], |(_, items)| items);
                inside.iter().for_each(|item| self.item(item, &path));
            }
            Item::Fn(function) if offered(&function.vis) => {
                let (vis, signature) = (&function.vis, &function.sig);
                self.add(above, &function.sig.ident.to_string(), quote::quote!(#vis #signature));
            }
            Item::Struct(what) if offered(&what.vis) => self.structure(what, above),
            Item::Union(what) if offered(&what.vis) => {
                let (vis, name, generics) = (&what.vis, &what.ident, &what.generics);
                let place = &generics.where_clause;
                let path = self.add(above, &name.to_string(), quote::quote!(#vis union #name #generics #place));
                self.fields(what.fields.named.iter(), &path);
            }
            Item::Enum(what) if offered(&what.vis) => self.choice(what, above),
            Item::Type(what) if offered(&what.vis) => {
                let bare = syn::ItemType { attrs: Vec::new(), ..what.clone() };
                self.add(above, &what.ident.to_string(), bare);
            }
            Item::Const(what) if offered(&what.vis) => {
                let (vis, name, of, generics) = (&what.vis, &what.ident, &what.ty, &what.generics);
                let value = self.value(&what.expr);
                self.add(above, &name.to_string(), quote::quote!(#vis const #name #generics: #of = #value));
            }
            Item::Static(what) if offered(&what.vis) => self.fixed(what, above),
            Item::Trait(what) if offered(&what.vis) => self.interface(what, above),
            Item::Impl(what) => self.implementation(what, above),
            Item::Use(what) if offered(&what.vis) => {
                let bare = syn::ItemUse { attrs: Vec::new(), ..what.clone() };
                let mut names = Vec::new();
                used(&what.tree, &mut names);
                names.iter().for_each(|name| {
                    self.add(above, name, &bare);
                });
            }
            Item::ExternCrate(what) if offered(&what.vis) => {
                let bare = syn::ItemExternCrate { attrs: Vec::new(), ..what.clone() };
                self.add(above, &what.ident.to_string(), bare);
            }
            Item::ForeignMod(block) => self.foreign(block, above),
            Item::Macro(what) => {
                let exported = what.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"));
                if let (Some(name), true) = (&what.ident, exported) {
                    self.add(above, &name.to_string(), quote::quote!(macro_rules! #name));
                }
            }
            _ => {}
        }
    }

    fn choice(&mut self, what: &syn::ItemEnum, above: &str) {
        let (vis, name, generics) = (&what.vis, &what.ident, &what.generics);
        let place = &generics.where_clause;
        let path = self.add(above, &name.to_string(), quote::quote!(#vis enum #name #generics #place));
        for variant in &what.variants {
            let bare = syn::Variant { attrs: Vec::new(), ..variant.clone() };
            self.add(&path, &variant.ident.to_string(), bare);
        }
    }

    fn structure(&mut self, what: &syn::ItemStruct, above: &str) {
        let (vis, name, generics) = (&what.vis, &what.ident, &what.generics);
        let place = &generics.where_clause;
        let name_text = name.to_string();
        match &what.fields {
            Fields::Named(fields) => {
                let path = self.add(above, &name_text, quote::quote!(#vis struct #name #generics #place));
                self.fields(fields.named.iter(), &path);
            }
            Fields::Unnamed(fields) => {
                self.add(above, &name_text, quote::quote!(#vis struct #name #generics #fields #place));
            }
            Fields::Unit => {
                self.add(above, &name_text, quote::quote!(#vis struct #name #generics #place));
            }
        }
    }

    fn fields<'f>(&mut self, fields: impl Iterator<Item = &'f syn::Field>, path: &str) {
        for field in fields.filter(|field| offered(&field.vis)) {
            let bare = syn::Field { attrs: Vec::new(), ..field.clone() };
            self.add(path, &field.ident.as_ref().map(ToString::to_string).unwrap_or_default(), bare);
        }
    }

    fn fixed(&mut self, what: &syn::ItemStatic, above: &str) {
        let (vis, changes, name, of) = (&what.vis, &what.mutability, &what.ident, &what.ty);
        let value = self.value(&what.expr);
        self.add(above, &name.to_string(), quote::quote!(#vis static #changes #name: #of = #value));
    }

    fn interface(&mut self, what: &syn::ItemTrait, above: &str) {
        let bare = syn::ItemTrait { attrs: Vec::new(), items: Vec::new(), ..what.clone() };
        let head = without_docs(bare);
        let path = self.add(above, &what.ident.to_string(), quote::quote!());
        if let Some(item) = self.items.last_mut() {
            item.signature = head.trim_end().trim_end_matches('}').trim_end().trim_end_matches('{').to_owned();
        }
        for item in &what.items {
            match item {
                TraitItem::Fn(function) if !function.attrs.iter().any(is_test) => {
                    let signature = &function.sig;
                    self.add(&path, &function.sig.ident.to_string(), signature);
                }
                TraitItem::Type(of) => {
                    let bare = syn::TraitItemType { attrs: Vec::new(), ..of.clone() };
                    self.add(&path, &of.ident.to_string(), bare);
                }
                TraitItem::Const(of) => {
                    let (name, kind, generics) = (&of.ident, &of.ty, &of.generics);
                    let value = of.default.as_ref().map(|(_, value)| self.value(value));
                    let value = value.map(|value| quote::quote!(= #value));
                    self.add(&path, &name.to_string(), quote::quote!(const #name #generics: #kind #value));
                }
                _ => {}
            }
        }
    }

    /// Adds the items of an inherent implementation; the items of a trait are listed with the trait.
    fn implementation(&mut self, what: &syn::ItemImpl, above: &str) {
        if what.trait_.is_some() {
            return;
        }
        let of = without_docs(&what.self_ty).split_whitespace().collect::<String>();
        let path = if above.is_empty() { of } else { format!("{above}.{of}") };
        for item in &what.items {
            match item {
                ImplItem::Fn(function) if offered(&function.vis) && !function.attrs.iter().any(is_test) => {
                    let (vis, default, signature) = (&function.vis, &function.modifiers.defaultness, &function.sig);
                    self.add(&path, &function.sig.ident.to_string(), quote::quote!(#vis #default #signature));
                }
                ImplItem::Const(of) if offered(&of.vis) => {
                    let (vis, name, kind, generics) = (&of.vis, &of.ident, &of.ty, &of.generics);
                    let value = self.value(&of.expr);
                    self.add(&path, &name.to_string(), quote::quote!(#vis const #name #generics: #kind = #value));
                }
                ImplItem::Type(of) if offered(&of.vis) => {
                    let bare = syn::ImplItemType { attrs: Vec::new(), ..of.clone() };
                    self.add(&path, &of.ident.to_string(), bare);
                }
                _ => {}
            }
        }
    }

    fn foreign(&mut self, block: &syn::ItemForeignMod, above: &str) {
        for item in &block.items {
            match item {
                syn::ForeignItem::Fn(function) if offered(&function.vis) => {
                    let (vis, signature) = (&function.vis, &function.sig);
                    self.add(above, &function.sig.ident.to_string(), quote::quote!(#vis #signature));
                }
                syn::ForeignItem::Static(what) if offered(&what.vis) => {
                    let bare = syn::ForeignItemStatic { attrs: Vec::new(), ..what.clone() };
                    self.add(above, &what.ident.to_string(), bare);
                }
                syn::ForeignItem::Type(what) if offered(&what.vis) => {
                    let bare = syn::ForeignItemType { attrs: Vec::new(), ..what.clone() };
                    self.add(above, &what.ident.to_string(), bare);
                }
                _ => {}
            }
        }
    }

    /// Returns a value as our outlines show it: left out if its text in the file is long.
    fn value(&self, value: &syn::Expr) -> proc_macro2::TokenStream {
        let bytes = syn::spanned::Spanned::span(value).byte_range();
        let long = self.text.get(bytes).is_some_and(|text| text.len() > LONG_VALUE);
        if long { LEFT_OUT.parse().unwrap_or_default() } else { value.to_token_stream() }
    }
}

/// The placeholder for a value that is left out, since `…` is not a token.
const LEFT_OUT: &str = "left_out_value";

/// Returns the text of tokens without documentation.
fn without_docs(tokens: impl ToTokens) -> String {
    fn strip(tokens: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
        use proc_macro2::{Group, TokenTree};
        let mut kept: Vec<TokenTree> = Vec::new();
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let is_doc = group.stream().into_iter().next().is_some_and(|token| token.to_string() == "doc")
                        && kept.last().is_some_and(|token| token.to_string() == "#");
                    if is_doc {
                        kept.pop();
                        continue;
                    }
                    let stripped = Group::new(group.delimiter(), strip(group.stream()));
                    kept.push(TokenTree::Group(stripped));
                }
                other => kept.push(other),
            }
        }
        kept.into_iter().collect()
    }
    strip(tokens.to_token_stream()).to_string().replace(LEFT_OUT, "…")
}

fn offered(visibility: &Visibility) -> bool {
    match visibility {
        Visibility::Public(_) => true,
        Visibility::Restricted(to) => !to.path.is_ident("self"),
        Visibility::Inherited => false,
    }
}

fn is_test(attribute: &syn::Attribute) -> bool {
    let text = attribute.to_token_stream().to_string().split_whitespace().collect::<String>();
    text == "#[cfg(test)]" || text == "#[test]" || text == "#[bench]" || text.ends_with("::test]")
}

fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn used(tree: &syn::UseTree, names: &mut Vec<String>) {
    match tree {
        syn::UseTree::Path(path) => used(&path.tree, names),
        syn::UseTree::Name(name) => names.push(name.ident.to_string()),
        syn::UseTree::Rename(name) => names.push(name.rename.to_string()),
        syn::UseTree::Glob(_) => names.push("*".to_owned()),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| used(tree, names)),
    }
}
