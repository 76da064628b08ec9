//! The accessibility tree of a browser page: the page, alerts, headings, everything that can be clicked or filled in
//! with its reference, and tables by their columns.

use std::io;

use super::grid::Grid;
use super::passages::{Passages, USUAL, counted};
use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::kinds::shared::counts::Tally;
use crate::sample::Sample;
use crate::text::clip;
use crate::{Item, Line, Lines, Page, Part, Source, Weight};

mod group;
mod node;
mod table;

use group::{ControlGroup, LINE_BYTES};
use node::Node;
use table::OpenTable;

pub(crate) const KIND: Kind = Kind::whole("accessibility", is, read);

const MAX_ITEMS: usize = 80;
/// The line before a tree, and the maximum number of lines before that.
const TREE_BEGINS: &str = "```yaml";
const MAX_LINES_BEFORE: usize = 120;
/// The maximum depth to which the tree is followed.
const MAX_DEPTH: usize = 200;

/// Returns whether this is such a tree: nearly all lines are nodes or belong to one, from where it begins.
fn is(sample: &Sample<'_>) -> bool {
    let (mut lines, mut nodes, mut sure) = (0, 0, 0);
    // A browser's server writes what it did before the tree.
    let before = sample.full_lines().take(MAX_LINES_BEFORE).position(|line| line.trim() == TREE_BEGINS);
    for line in sample.full_lines().skip(before.map_or(0, |before| before + 1)) {
        lines += 1;
        if let Some(node) = Node::of(line) {
            nodes += usize::from(node.is_known() || node.role.starts_with('/'));
            sure += usize::from(node.is_known() && (!node.name.is_empty() || !node.reference().is_empty()));
        }
    }
    lines >= 5 && nodes * 100 >= lines * 80 && sure * 3 >= lines
}

fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut tree = Tree { groups: vec![ControlGroup::default()], ..Tree::default() };
    Lines::each(source, |line| tree.line(line))?;
    Ok(Some(tree.page()))
}

/// Returns whether a line is a message of the browser's console: `- [LOG] …`.
fn is_message(line: &str) -> bool {
    let level = line.trim_start().strip_prefix("- [").and_then(|rest| rest.split_once(']'));
    level.is_some_and(|(level, _)| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_uppercase()))
}

struct Ancestor {
    indent: usize,
    sort: ElementKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementKind {
    Alert,
    Status,
    /// A part of the page with its own controls.
    Group,
    Table,
    Row,
    Cell,
    Heading,
    Control,
    List,
    Other,
}

#[derive(Default)]
struct Tree {
    around: Vec<Ancestor>,
    page: Vec<Item>,
    alerts: KeptItems<MAX_ITEMS>,
    headings: KeptItems<MAX_ITEMS>,
    groups: Vec<ControlGroup>,
    group: usize,
    passages: Passages,
    tables: Vec<Grid>,
    table_total: u64,
    table: Option<OpenTable>,
    roles: Tally<100>,
    nodes: u64,
    /// The number of messages of the console before the tree.
    messages: u64,
    controls: u64,
    links: u64,
}

impl Tree {
    fn line(&mut self, line: &Line<'_>) {
        if self.nodes == 0 && is_message(line.text) {
            self.messages += 1;
            return;
        }
        let Some(node) = Node::of(line.text) else {
            let text = line.text.trim();
            let is_mark = ["```", "### ", "// "].iter().any(|mark| text.starts_with(mark));
            if !text.is_empty() && !is_mark && self.page.len() < MAX_ITEMS {
                self.page.push(Item::at(line.number, clip(text, 300)));
            }
            return;
        };
        self.leave(node.indent);
        if node.role.starts_with('/') {
            self.property(&node);
            return;
        }
        if !node.is_known() && self.nodes == 0 {
            // `- Page URL: …` precedes the tree.
            self.page.push(Item::at(line.number, clip(line.text.trim().trim_start_matches("- "), 300)));
            return;
        }
        self.nodes += 1;
        self.roles.add(node.role);
        let sort = self.node(line, &node);
        if self.around.len() < MAX_DEPTH {
            self.around.push(Ancestor { indent: node.indent, sort });
        }
    }

    /// Leaves the elements that do not enclose this indentation.
    fn leave(&mut self, indent: usize) {
        while let Some(last) = self.around.last().filter(|last| last.indent >= indent) {
            match last.sort {
                ElementKind::Row => self.end_row(),
                ElementKind::Table => self.end_table(),
                ElementKind::Group => self.group = self.groups.get(self.group).map_or(0, |group| group.outer),
                _ => {}
            }
            self.around.pop();
        }
    }

    fn is_inside(&self, sort: ElementKind) -> bool {
        self.around.iter().any(|around| around.sort == sort)
    }

    /// Adds `/url: …` or `/placeholder: …` to the control before it.
    fn property(&mut self, node: &Node<'_>) {
        let value = clip(node.value.trim_matches('"'), 120);
        if self.table.is_some() || value.is_empty() {
            return;
        }
        let is_control = self.around.last().is_some_and(|around| around.sort == ElementKind::Control);
        if let Some(last) =
            self.groups.get_mut(self.group).and_then(|group| group.items.last_mut()).filter(|_| is_control)
        {
            let name = if node.role == "/url" { "→" } else { node.role.trim_start_matches('/') };
            last.push_str(&format!(" {name} {value}"));
        }
    }

    fn node(&mut self, line: &Line<'_>, node: &Node<'_>) -> ElementKind {
        if let Some(kind) = self.by_role(line, node) {
            return kind;
        }
        let said = node.shown_text();
        if self.table.is_some() {
            return self.in_table(node, said);
        }
        if self.is_inside(ElementKind::Alert) || self.is_inside(ElementKind::Status) {
            self.add_to_alert(node, said);
            if !node.is_control() {
                return ElementKind::Other;
            }
        }
        if node.role == "heading" {
            return self.heading(line, node, said);
        }
        if node.is_control() {
            return self.control(node);
        }
        if node.is_group() {
            if !node.value.is_empty() {
                self.passages.add(Some(line.number), &node.words(), USUAL * 8 / 10);
            }
            self.begin_group(node);
            return ElementKind::Group;
        }
        if !said.is_empty() && !self.is_inside(ElementKind::Heading) && !self.is_inside(ElementKind::Control) {
            let text = match node.reference() {
                "" => said.to_owned(),
                reference => format!("{said} [ref={reference}]"),
            };
            self.passages.add(Some(line.number), &text, USUAL);
        }
        if matches!(node.role, "list" | "listbox") { ElementKind::List } else { ElementKind::Other }
    }

    /// Takes a node whose role alone decides what it is: the page, an alert, or a part of a table.
    fn by_role(&mut self, line: &Line<'_>, node: &Node<'_>) -> Option<ElementKind> {
        match node.role {
            "RootWebArea" | "document" | "WebArea" if !node.name.is_empty() => {
                self.page.push(Item::at(line.number, node.words()));
                Some(ElementKind::Other)
            }
            "alert" | "alertdialog" => {
                self.alert(line, node);
                Some(ElementKind::Alert)
            }
            "dialog" => {
                self.alert(line, node);
                self.begin_group(node);
                Some(ElementKind::Group)
            }
            "status" | "tooltip" | "log" | "marquee" | "timer" => {
                self.alert(line, node);
                Some(ElementKind::Status)
            }
            "table" | "grid" | "treegrid" => Some(self.begin_table()),
            "row" => Some(self.begin_row(line, node)),
            "cell" | "gridcell" | "columnheader" | "rowheader" => Some(self.cell(node)),
            _ => None,
        }
    }

    fn heading(&mut self, line: &Line<'_>, node: &Node<'_>, said: &str) -> ElementKind {
        self.passages.cover(said);
        self.headings.add(|| Item::at(line.number, node.words()));
        ElementKind::Heading
    }

    fn alert(&mut self, line: &Line<'_>, node: &Node<'_>) {
        self.alerts.add(|| Item::at(line.number, node.words()));
    }

    fn add_to_alert(&mut self, node: &Node<'_>, said: &str) {
        self.passages.cover(said);
        if let Some(alert) = self.alerts.items.last_mut().filter(|alert| alert.text.len() < 400) {
            alert.text.push_str(if alert.text.ends_with(']') { ": " } else { " " });
            alert.text.push_str(&if node.is_control() { node.words() } else { clip(said, 300) });
        }
    }

    fn begin_group(&mut self, node: &Node<'_>) {
        if self.groups.len() < MAX_ITEMS {
            self.groups.push(ControlGroup { head: node.words(), outer: self.group, ..ControlGroup::default() });
            self.group = self.groups.len() - 1;
        }
    }

    fn control(&mut self, node: &Node<'_>) -> ElementKind {
        let is_option = matches!(node.role, "option" | "menuitem" | "treeitem") && self.is_inside(ElementKind::Control);
        if node.role == "link" {
            self.links += 1;
        } else {
            self.controls += u64::from(!is_option);
        }
        let Some(group) = self.groups.get_mut(self.group) else { return ElementKind::Control };
        if is_option {
            // Options belong to the control before them; the selected one is marked.
            if let Some(last) = group.items.last_mut().filter(|last| last.len() < 2 * LINE_BYTES) {
                let name = if node.name.is_empty() { node.value } else { node.name };
                let mark = if node.states().any(|state| state == "selected") { "*" } else { "" };
                last.push_str(&format!(" {mark}{}", clip(name, 40)));
            }
            return ElementKind::Other;
        }
        group.count += 1;
        self.passages.cover(node.name);
        if group.items.len() < 3 * MAX_ITEMS {
            group.items.push(node.words());
        }
        ElementKind::Control
    }

    fn page(mut self) -> Page {
        self.leave(0);
        let [nodes, headings] = [counted(self.nodes, "node"), counted(self.headings.total, "heading")];
        let [links, controls] = [counted(self.links, "link"), counted(self.controls, "control")];
        let tables = counted(self.table_total, "table");
        let messages = match self.messages {
            0 => String::new(),
            count => format!(", {}", counted(count, "console message")),
        };
        let what = format!("accessibility tree: {nodes}, {headings}, {links}, {controls}, {tables}{messages}");
        let mut page = Page::new(what);
        page.push(Part::new("page", Weight::Failure, self.page));
        page.push(self.alerts.part("alerts, dialogs and states", Weight::Failure));
        page.push(self.headings.part("headings", Weight::Fact));
        let total: u64 = self.groups.iter().map(|group| group.count).sum();
        let items = self.groups.iter().flat_map(ControlGroup::items).collect();
        let name = format!("what can be clicked or filled in outside of tables, {total} in all, by part of the page");
        page.push(Part::new(name, Weight::Failure, items));
        for (place, grid) in self.tables.into_iter().enumerate() {
            grid.push(&mut page, &format!("table {}", place + 1));
        }
        page.push(self.passages.part("most telling texts", Weight::Fact));
        let roles = vec![Item::plain(self.roles.in_line(12))];
        page.push(Part::new("roles with counts", Weight::Sample, roles));
        page
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn a_page_is_shown_by_what_can_be_done_on_it() {
        let mut text = String::from(
            "- Page URL: http://localhost/orders\n- Page Title: Orders\n```yaml\n- generic [active] [ref=e1]:\n  \
             - alert [ref=e2]: 3 payments failed.\n  - heading \"Orders \\\"open\\\"\" [level=1] [ref=e3]\n  \
             - form \"Filter\" [ref=e4]:\n    - combobox \"State\" [ref=e5]:\n      - option \"All\"\n      \
             - option \"Open\" [selected]\n    - textbox \"Name\" [ref=e6]: Anna\n    - button \"Export\" [disabled] [ref=e7]\n  \
             - table [ref=e8]:\n    - row [ref=e9]:\n      - columnheader \"Order\" [ref=e10]\n      - columnheader \"Total\" [ref=e11]\n",
        );
        for number in 0..50 {
            text.push_str(&format!(
                "    - row [ref=r{number}]:\n      - cell [ref=c{number}]:\n        - link \"#{number}\" [ref=l{number}] \
                 [cursor=pointer]:\n          - /url: /orders/{number}\n      - cell \"{}.50 EUR\"\n",
                if number == 20 { 900 } else { 10 }
            ));
        }
        text.push_str(
            "  - navigation \"Pages\" [ref=e90]:\n    - link \"2\" [ref=e91]:\n      - /url: \"?page=2\"\n```\n",
        );
        check(&text, 700).shows(&expect![[r##"
            accessibility tree: 215 nodes, 1 heading, 51 links, 3 controls, 1 table
            == page: 2
            1: Page URL: http://localhost/orders
            2: Page Title: Orders
            == alerts, dialogs and states: 1
            5: alert [ref=e2]: 3 payments failed.
            == headings: 1
            6: heading "Orders \"open\"" [level=1] [ref=e3]
            == what can be clicked or filled in outside of tables, 4 in all, by part of the page: 2
            form "Filter" [ref=e4]: combobox "State" [ref=e5] All *Open, textbox "Name" [ref=e6]: Anna, button "Export" [disabled] [ref=e7]
            navigation "Pages" [ref=e90]: link "2" [ref=e91] → ?page=2
            == table 1: unusual records: 1
            117: #20 | 900.50 EUR [ref=r20] link "#20" [ref=l20] (unusual: Total)
            == table 1: fields of 50 records: 2
            Order: all different, such as #0, #1
            Total: 10.5 ×49, 900.5 ×1 (#20), sum 1415.0
            == table 1: first and last records: 50, 3 shown
            17: #0 | 10.50 EUR [ref=r0] link "#0" [ref=l0]
            22: #1 | 10.50 EUR [ref=r1] link "#1" [ref=l1]
            262: #49 | 10.50 EUR [ref=r49] link "#49" [ref=l49]
            == roles with counts: 1
            cell 100, link 51, row 51, columnheader 2, option 2, alert 1, button 1, combobox 1, form 1, generic 1, heading 1, navigation 1, 2 others 2"##]]);
    }

    #[test]
    fn what_the_browser_did_precedes_the_tree() {
        let text = "### Ran Playwright code\n```js\n// Click Go\nawait page.getByRole('button').click();\n```\n\n\
                    ### New console messages\n- [LOG] ready @ https://x/a.js\n- [ERROR] 404 () @ https://x/b.js\n\n\
                    ### Page state\n- Page URL: https://x/\n- Page Snapshot:\n```yaml\n- generic [ref=e1]:\n  \
                    - heading \"Orders\" [level=1] [ref=e2]\n  - link \"Next\" [ref=e3]:\n    - /url: /2\n  \
                    - button \"Go\" [ref=e4]\n  - textbox \"Name\" [ref=e5]\n```\n";
        let shown = digest(text, 600);
        for fact in
            ["2 console messages", "Page URL: https://x/", "link \"Next\" [ref=e3] → /2, button \"Go\" [ref=e4]"]
        {
            assert!(shown.contains(fact), "{shown}");
        }
    }

    #[test]
    fn other_tools_write_trees_too() {
        let text = "uid=1_0 RootWebArea \"Example Domain\" url=\"https://example.com/\"\n  uid=1_1 heading \"Example Domain\" level=\"1\"\n  \
                    uid=1_2 StaticText \"This domain is for use in examples.\"\n  uid=1_3 link \"More\" url=\"https://iana.org\"\n  \
                    uid=1_4 button \"Go\" disabled\n";
        let shown = digest(text, 600);
        for fact in ["button \"Go\" [disabled] [uid=1_4]", "accessibility tree: 5 nodes", "This domain is for use"] {
            assert!(shown.contains(fact), "{shown}");
        }
    }

    #[test]
    fn what_is_no_tree_is_left_alone() {
        let yaml = "- name: build\n  run: make\n- name: test\n  run: make test\n- button: red\n- link: there\n";
        let list = "- one thing\n- another thing\n- link to it\n- text and more\n- button it up\n- list of them\n";
        for text in [yaml, list] {
            assert!(!digest(text, 600).contains("accessibility"), "{text}");
        }
    }

    #[test]
    fn a_text_without_a_role_is_a_node() {
        let mut text =
            String::from("## Latest page snapshot\nuid=1_0 RootWebArea \"Defaults\" url=\"http://localhost/\"\n");
        for number in 1..=300 {
            text.push_str(&format!("  uid=1_{number} \"Part {number} of the text, which says\"\n"));
        }
        text.push_str("  uid=1_301 \"two\nlines\"\n  uid=1_302 button \"Save\"\n");
        let digest = digest(&text, 600);
        assert!(digest.contains("accessibility tree: 303 nodes"), "{digest}");
        assert!(digest.contains("button \"Save\" [uid=1_302]"), "{digest}");
    }
}
