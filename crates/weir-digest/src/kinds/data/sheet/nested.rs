//! Lists within records: each of their items in a few words, without what all of them have in common.

use std::collections::{HashMap, HashSet};

use super::column::IDENTITIES;
use super::little::{is_nothing, last_name, says_little};
use super::table::join;
use super::tree::Node;

/// The arrays with several records in them, and what differs between those.
#[derive(Default)]
pub(super) struct NestedLists {
    paths: HashSet<String>,
    fields: HashMap<String, Field>,
}

struct Field {
    first: String,
    varies: bool,
}

impl NestedLists {
    pub(super) fn of(records: &[(Option<&str>, &Node)]) -> Self {
        let mut found = Self::default();
        for (_, record) in records {
            found.find(record, "");
        }
        for (_, record) in records {
            found.compare(record, "", false);
        }
        found
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    fn find(&mut self, node: &Node, path: &str) {
        match node {
            Node::Object(fields, _) => fields.iter().for_each(|(key, value)| self.find(value, &join(path, key))),
            Node::Array(values) => {
                let inside = format!("{path}[]");
                values.iter().for_each(|value| self.find(value, &inside));
                if values.iter().filter(|value| value.is_record()).count() > 1 {
                    self.paths.insert(inside);
                }
            }
            Node::Leaf(_) => {}
        }
    }

    fn compare(&mut self, node: &Node, path: &str, is_inside: bool) {
        match node {
            Node::Object(fields, _) => {
                fields.iter().for_each(|(key, value)| self.compare(value, &join(path, key), is_inside));
            }
            Node::Array(values) => {
                let inside = format!("{path}[]");
                let is_inside = is_inside || self.contains(&inside);
                values.iter().for_each(|value| self.compare(value, &inside, is_inside));
            }
            Node::Leaf(text) if is_inside => match self.fields.get_mut(path) {
                Some(field) => field.varies |= field.first != *text,
                None => {
                    self.fields.insert(path.to_owned(), Field { first: text.clone(), varies: false });
                }
            },
            Node::Leaf(_) => {}
        }
    }

    /// Returns the items of such an array in one line, and in another line only what they are called.
    pub(super) fn brief(&self, values: &[Node], path: &str) -> (String, String) {
        let items: Vec<Vec<(&str, &str)>> = values.iter().map(|value| self.said(value, path)).collect();
        let items: Vec<&Vec<(&str, &str)>> = items.iter().filter(|said| !said.is_empty()).collect();
        let mark = if items.iter().all(|said| said.len() == 1) { ", " } else { "; " };
        let whole = items.iter().map(|said| {
            let words = said.iter().enumerate().map(|(place, (key, value))| match place {
                0 => (*value).to_owned(),
                _ => format!("{key}={value}"),
            });
            words.collect::<Vec<_>>().join(" ")
        });
        let names = items.iter().filter_map(|said| said.first()).map(|(_, value)| *value);
        (whole.collect::<Vec<_>>().join(mark), counted(names))
    }

    /// Returns what an item says that others do not, what it is called first.
    fn said<'a>(&self, node: &'a Node, path: &str) -> Vec<(&'a str, &'a str)> {
        let mut all = Vec::new();
        gather(node, "", path, &mut all);
        let telling = |(_, path, value): &&(&str, String, &str)| {
            let varies = self.fields.get(path).is_none_or(|field| field.varies);
            varies && !is_nothing(value) && !says_little(path, value)
        };
        let mut said: Vec<(&str, &str)> = Vec::new();
        for (key, _, value) in all.iter().filter(telling) {
            if !said.iter().any(|(_, known)| known == value) {
                said.push((key, value));
            }
        }
        if said.is_empty() {
            said.extend(all.iter().find(|(_, _, value)| !is_nothing(value)).map(|(key, _, value)| (*key, *value)));
        }
        let is_name = |(key, _): &(&str, &str)| IDENTITIES.contains(&key.to_ascii_lowercase().as_str());
        if let Some(name) =
            said.iter().position(|said| is_name(said) && said.0 != "id").or(said.iter().position(is_name))
        {
            said[..=name].rotate_right(1);
        }
        said
    }
}

/// Joins names, each once, with how often it comes.
fn counted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        let place = *places.entry(name).or_insert(counts.len());
        if place == counts.len() {
            counts.push((name, 0));
        }
        counts[place].1 += 1;
    }
    let shown = counts.into_iter().map(|(name, count)| match count {
        1 => name.to_owned(),
        count => format!("{name} ×{count}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn gather<'a>(node: &'a Node, key: &'a str, path: &str, all: &mut Vec<(&'a str, String, &'a str)>) {
    match node {
        Node::Leaf(text) => all.push((last_name(key), path.to_owned(), text)),
        Node::Object(fields, _) => {
            fields.iter().for_each(|(key, value)| gather(value, key, &join(path, key), all));
        }
        Node::Array(values) => values.iter().for_each(|value| gather(value, key, &format!("{path}[]"), all)),
    }
}
