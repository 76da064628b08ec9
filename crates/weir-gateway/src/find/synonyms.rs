//! Words that mean the same where tools are described.

use std::collections::HashMap;

use super::terms::stem_of;

/// Groups of words that stand for each other. They are ordinary words of software; no name of a server or a product is
/// among them. A word may be in several groups.
const GROUPS: &[&str] = &[
    // What is done.
    "create make add new generate insert build register start",
    "create file report submit open",
    "delete remove drop clear erase forget discard destroy",
    "get read show view retrieve fetch see display load",
    "get detail info information describe inspect",
    "list enumerate every",
    "update change edit modify set rewrite alter adjust replace patch",
    "update mark resolve close status",
    "search find look locate query",
    "move rename relocate transfer",
    "copy duplicate fork clone",
    "write save store append",
    "undo revert reset restore unstage",
    "send post submit publish tell",
    "run execute perform evaluate",
    "open visit navigate go browse",
    "close quit exit shut end stop finish terminate",
    "download export save",
    "upload attach attachment",
    "click press tap",
    "press key keyboard shortcut",
    "hover mouse pointer cursor",
    "type enter fill input",
    "resize viewport window",
    "emulate simulate pretend mock",
    "compare diff difference",
    "diff patch change modification",
    "watch monitor observe notify",
    "assign give owner",
    "link connect relation",
    "approve review",
    "analyze explain cause diagnose",
    "group aggregate",
    "repeat echo",
    // What it is done to.
    "page site website webpage web",
    "page content markdown body",
    "text content body",
    "tab page window",
    "article wiki page",
    "subpage child",
    "url address link",
    "crawl map site",
    "image picture photo screenshot",
    "screenshot capture picture snapshot", // tidy: allow(snapshot)
    "video recording replay",
    "issue ticket bug",
    "error exception crash failure issue",
    "event occurrence",
    "folder directory dir",
    "file path",
    "tree recursive structure overview",
    "database db",
    "table object relation",
    "table database source",
    "schema structure column type",
    "column field property attribute",
    "row record entry document item",
    "sql statement select query",
    "index lookup",
    "fact observation memory",
    "comment remark reply note answer discussion",
    "conversation thread discussion",
    "message mail",
    "channel room",
    "console log print output",
    "user person people member account colleague",
    "whoami identity login account",
    "group team",
    "organization org",
    "documentation docs manual guide example",
    "library package module",
    "request call http network",
    "dialog popup alert",
    "key token secret credential",
    "label tag",
    "javascript js script",
    "configuration config setting",
    "environment env",
    "pr pull",
    "repository repo",
    "clone local repository",
    "branch checkout switch",
    "commit revision changeset",
    // What is asked about it.
    "status state health",
    "down health availability",
    "check ci test build",
    "version release deploy",
    "history log changelog edit",
    "recent latest last newest",
    "count number total many",
    "size large small storage space disk",
    "time date when duration",
    "worklog spent",
    "slow fast performance speed",
    "cost price pricing spend",
    "permission access allowed permitted restriction",
];

/// For the stem of a word, the stems of its synonyms.
#[derive(Debug)]
pub(super) struct Synonyms(HashMap<String, Vec<String>>);

impl Synonyms {
    pub(super) fn new() -> Self {
        let mut all: HashMap<String, Vec<String>> = HashMap::new();
        for group in GROUPS {
            let stems: Vec<String> = group.split(' ').map(stem_of).collect();
            for stem in &stems {
                let others = stems.iter().filter(|other| *other != stem).cloned();
                all.entry(stem.clone()).or_default().extend(others);
            }
        }
        Self(all)
    }

    pub(super) fn of(&self, stem: &str) -> &[String] {
        self.0.get(stem).map(Vec::as_slice).unwrap_or_default()
    }
}
