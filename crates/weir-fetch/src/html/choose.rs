//! Chooses the readable part of a page: the part with the paragraphs, without menus and the like.
//!
//! Invariant: at least 40 % of the text outside menus is chosen, so that indexing does not lose the answer.

use super::tags::Tag;
use super::tree::{NONE, Node, PageTree};

/// Names of the parts around a text. Such a part is left out only if it is mostly links, or short.
const AROUND: &[&str] = &[
    "ad", "ads", "advert", "banner", "breadcrumb", "breadcrumbs", "complementary", "consent", "contentinfo", "cookie",
    "cookies", "footer", "menu", "modal", "nav", "navbar", "navigation", "newsletter", "pagination", "popup",
    "related", "search", "share", "sidebar", "sidenav", "skip", "social", "sphinxsidebar", "sponsor", "subscribe",
    "toc",
];

/// The chosen part of a page.
pub(super) struct PageSelection {
    /// The element that contains the text.
    pub root: u32,
    /// For each element, whether it is left out with everything in it.
    pub dropped: Vec<bool>,
    /// The share of the text that was left out, in percent.
    pub left_out: usize,
}

/// The number of letters in an element and its descendants.
#[derive(Clone, Copy, Default)]
struct TextWeight {
    letters: u32,
    linked: u32,
    /// Whether it contains the page's heading or its main part.
    is_central: bool,
}

pub(super) fn choose(tree: &PageTree) -> PageSelection {
    let weights = weigh(tree, &[]);
    let dropped = drop_around(tree, &weights);
    let kept = weigh(tree, &dropped);
    let letters = |weights: &[TextWeight], place: u32| weights.get(place as usize).map_or(0, |weight| weight.letters);
    let all = letters(&kept, 0);
    let marked = tree
        .nodes
        .iter()
        .zip(0_u32..)
        .filter(|(node, _)| matches!(node.tag, Tag::Main | Tag::Article) || has_name(node, |name| name == "main"))
        .map(|(_, place)| (letters(&kept, place), place))
        .max_by_key(|(letters, place)| (*letters, std::cmp::Reverse(*place)))
        .filter(|(letters, _)| u64::from(*letters) * 5 >= u64::from(all) * 2);
    let mut root = match marked {
        Some((_, place)) => place,
        None => by_paragraphs(tree, &kept),
    };
    while marked.is_none() && u64::from(letters(&kept, root)) * 2 < u64::from(all) && root != 0 {
        root = tree.node(root).map_or(0, |node| if node.parent == NONE { 0 } else { node.parent });
    }
    let (shown, whole) = (u64::from(letters(&kept, root)), u64::from(letters(&weights, 0)));
    let left_out = ((whole - shown.min(whole)) * 100).checked_div(whole).unwrap_or_default() as usize;
    PageSelection { root, dropped, left_out }
}

/// Sums up from the last node to the first, that is, from children to parents.
fn weigh(tree: &PageTree, dropped: &[bool]) -> Vec<TextWeight> {
    let mut weights = vec![TextWeight::default(); tree.nodes.len()];
    for (place, node) in tree.nodes.iter().enumerate().rev() {
        let mut weight = weights.get(place).copied().unwrap_or_default();
        if dropped.get(place).copied().unwrap_or_default() {
            weight = TextWeight::default();
        } else {
            match node.tag {
                Tag::Text => {
                    weight.letters = tree.text(node).iter().filter(|byte| !byte.is_ascii_whitespace()).count() as u32;
                }
                Tag::A => weight.linked = weight.letters,
                Tag::H1 | Tag::Main | Tag::Article => weight.is_central = true,
                _ => {}
            }
        }
        if let Some(own) = weights.get_mut(place) {
            *own = weight;
        }
        if let Some(parent) = weights.get_mut(node.parent as usize) {
            parent.letters += weight.letters;
            parent.linked += weight.linked;
            parent.is_central |= weight.is_central;
        }
    }
    weights
}

fn drop_around(tree: &PageTree, weights: &[TextWeight]) -> Vec<bool> {
    let all = weights.first().map_or(0, |weight| weight.letters);
    let mut dropped = vec![false; tree.nodes.len()];
    let mut within = vec![false; tree.nodes.len()];
    for (place, node) in tree.nodes.iter().enumerate() {
        let of_parent = |list: &[bool]| list.get(node.parent as usize).copied().unwrap_or_default();
        let is_within = of_parent(&within) || matches!(node.tag, Tag::Main | Tag::Article);
        let weight = weights.get(place).copied().unwrap_or_default();
        let is_dropped = of_parent(&dropped) || is_around(node, weight, all, is_within);
        if let (Some(within), Some(dropped)) = (within.get_mut(place), dropped.get_mut(place)) {
            *within = is_within;
            *dropped = is_dropped;
        }
    }
    dropped
}

fn is_around(node: &Node, weight: TextWeight, all: u32, is_within: bool) -> bool {
    let (letters, all) = (u64::from(weight.letters), u64::from(all));
    match node.tag {
        // A menu that contains the page is one without an end tag.
        Tag::Nav => !weight.is_central || letters * 3 <= all,
        _ if weight.is_central || letters * 3 > all => false,
        Tag::Footer | Tag::Header | Tag::Aside if !is_within => true,
        tag if tag.is_block() && tag != Tag::Body && tag.heading().is_none() => {
            let links = u64::from(weight.linked) * 2 >= letters;
            (links || (letters < 200 && !is_within)) && has_name(node, |name| AROUND.contains(&name))
        }
        _ => false,
    }
}

fn has_name(node: &Node, is_meant: impl Fn(&str) -> bool) -> bool {
    let names = node.attributes.as_ref().map_or("", |attributes| attributes.names.as_str());
    names.split(|c: char| !c.is_ascii_alphanumeric()).filter(|name| !name.is_empty()).any(is_meant)
}

/// Returns the element with the most paragraphs among its children and grandchildren.
fn by_paragraphs(tree: &PageTree, kept: &[TextWeight]) -> u32 {
    let mut scores = vec![0_u64; tree.nodes.len()];
    for (place, node) in tree.nodes.iter().enumerate() {
        let weight = kept.get(place).copied().unwrap_or_default();
        if !matches!(node.tag, Tag::P | Tag::Pre | Tag::Quote | Tag::Td | Tag::Li) || weight.letters < 25 {
            continue;
        }
        let score = u64::from(weight.letters - weight.linked.min(weight.letters)).min(600) + 25;
        let above = tree.node(node.parent).map_or(NONE, |parent| parent.parent);
        for (place, share) in [(node.parent, 2), (above, 1)] {
            if let Some(sum) = scores.get_mut(place as usize) {
                *sum += score * share;
            }
        }
    }
    let best = scores.iter().zip(0_u32..).max_by_key(|(score, place)| (**score, std::cmp::Reverse(*place)));
    best.map_or(0, |(score, place)| if *score == 0 { 0 } else { place })
}
