//! The links of a page, with those of its navigation listed separately, and its images.

use std::collections::HashSet;

use crate::kinds::shared::bounded_items::{KeptItems, joined};
use crate::text::clip;
use crate::{Item, Page, Part, Weight};

const MAX_LINKS_KEPT: usize = 60;
const MAX_LINKS: usize = 5_000;
const ROW_BYTES: usize = 160;

#[derive(Default)]
pub(super) struct Links {
    pub total: u64,
    seen: HashSet<u64>,
    main: KeptItems<MAX_LINKS_KEPT>,
    around: Vec<String>,
    around_total: u64,
    images: KeptItems<MAX_LINKS_KEPT>,
    pub image_total: u64,
}

impl Links {
    /// Adds a link. Links within the same page are only counted.
    pub(super) fn add(&mut self, text: &str, target: &str, is_around: bool) {
        self.total += 1;
        let key = crate::template::text_hash(target);
        if target.starts_with('#') || text.is_empty() || self.seen.len() >= MAX_LINKS || !self.seen.insert(key) {
            return;
        }
        if is_around {
            self.around_total += 1;
            if self.around.len() < MAX_LINKS_KEPT {
                self.around.push(format!("{} {}", clip(text, 50), clip(target, 80)));
            }
        } else {
            self.main.add(|| Item::plain(format!("{} → {}", clip(text, 80), clip(target, 160))));
        }
    }

    pub(super) fn image(&mut self, text: &str, source: &str) {
        self.image_total += 1;
        if !text.is_empty() {
            self.images.add(|| Item::plain(format!("{} ({})", clip(text, 100), clip(source, 80))));
        }
    }

    pub(super) fn push(self, page: &mut Page) {
        page.push(self.main.part("links in the text", Weight::Shape));
        let rows = joined(self.around.iter(), "; ", ROW_BYTES);
        page.push(Part::new(format!("links around it, {} in all, rows", self.around_total), Weight::Shape, rows));
        page.push(self.images.part("images with a text", Weight::Sample));
    }
}
