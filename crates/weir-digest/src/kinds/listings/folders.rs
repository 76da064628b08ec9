//! Counts the entries of folders, where folders whose names differ only in digits are counted together.

use std::collections::HashMap;

use weir_core::wording::counted;

use crate::kinds::shared::counts::template;
use crate::{Item, Part, Weight};

const MAX_FOLDERS: usize = 10_000;

#[derive(Default)]
pub(super) struct Folders {
    folders: HashMap<Box<str>, usize>,
    /// The group of each folder, and the number of its own entries.
    own: Vec<(usize, u64)>,
    likes: HashMap<String, usize>,
    groups: Vec<FolderGroup>,
    /// The index of the folder that is being listed.
    now: Option<usize>,
    beyond: u64,
}

#[derive(Default)]
struct FolderGroup {
    name: String,
    folders: u64,
    entries: u64,
    bytes: u64,
    fullest: (u64, String),
}

impl FolderGroup {
    /// Names the folder that holds most of the entries of several, if there is one.
    fn most(&self) -> String {
        let (entries, name) = &self.fullest;
        if entries * 4 >= self.entries * 3 { format!(", {entries} of them in {name}") } else { String::new() }
    }
}

impl Folders {
    pub(super) fn begin(&mut self, folder: &str) {
        self.now = self.folders.get(folder).copied();
        if self.now.is_some() {
            return;
        }
        if self.folders.len() >= MAX_FOLDERS {
            self.beyond += 1;
            return;
        }
        let like = template(folder);
        let place = match self.likes.get(&like) {
            Some(&place) => place,
            None => {
                self.groups.push(FolderGroup { name: folder.to_owned(), ..FolderGroup::default() });
                self.likes.insert(like.clone(), self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        if let Some(group) = self.groups.get_mut(place) {
            group.folders += 1;
            if group.folders == 2 {
                group.name = like;
            }
        }
        self.own.push((place, 0));
        self.folders.insert(folder.into(), self.own.len() - 1);
        self.now = Some(self.own.len() - 1);
    }

    pub(super) fn add(&mut self, bytes: u64) {
        let Some((place, own)) = self.now.and_then(|now| self.own.get_mut(now)) else { return };
        *own += 1;
        if let Some(group) = self.groups.get_mut(*place) {
            group.entries += 1;
            group.bytes = group.bytes.saturating_add(bytes);
        }
    }

    /// Finds the fullest folder of each group.
    fn compare(&mut self) {
        for (name, &place) in &self.folders {
            let Some(&(place, own)) = self.own.get(place) else { continue };
            let Some(group) = self.groups.get_mut(place) else { continue };
            if own > group.fullest.0 || own == group.fullest.0 && **name < *group.fullest.1 {
                group.fullest = (own, name.to_string());
            }
        }
    }

    /// Returns the number of folders, in words.
    pub(super) fn different(&self) -> String {
        let more = if self.beyond > 0 { "more than " } else { "" };
        format!("{more}{}", counted(self.groups.iter().map(|group| group.folders as usize).sum(), "folder", "folders"))
    }

    /// Returns one item per group, the fullest first.
    pub(super) fn part(mut self, sized: bool) -> Part {
        self.compare();
        self.groups.sort_by(|a, b| b.entries.cmp(&a.entries).then(b.bytes.cmp(&a.bytes)).then(a.name.cmp(&b.name)));
        let total = self.groups.iter().map(|group| group.folders).sum::<u64>() + self.beyond;
        let told = self.groups.iter().take(60).map(|group| {
            let many = || format!(" in {} folders{}", group.folders, group.most());
            let many = (group.folders > 1).then(many).unwrap_or_default();
            let bytes = if sized { format!(", {} bytes", group.bytes) } else { String::new() };
            let entries = counted(group.entries as usize, "entry", "entries");
            Item::plain(format!("{}: {entries}{many}{bytes}", group.name))
        });
        let items = if total > 1 { told.collect() } else { Vec::new() };
        let total = if total > 1 { self.groups.len() as u64 + self.beyond } else { 0 };
        Part::new("folders, digits of like ones as #", Weight::Shape, items).of(total)
    }
}
