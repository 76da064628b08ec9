//! Errors thrown in Node.js and other JavaScript engines, alone or in a log.

use super::trace::{FrameOrder, Link, Trace, Traces};
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, number};
use crate::trouble;
use crate::{Line, Page};

pub(crate) const KIND: Kind = Kind::lines::<Node>("node trace", opens);

fn opens(line: &str, _: crate::About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b' ' | b'\t') => is_frame(line.trim_start()),
        Some(b'/' | b'n' | b'f' | b'C'..=b'E') => is_place(line),
        _ => false,
    }
}

/// Recognises `at handle (/srv/orders/orders.js:24:26)`, `at async main (file:///…:1:2)`, `at /srv/a.js:1:2`.
fn is_frame(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("at ") else { return false };
    let rest = rest.trim_end_matches([' ', '{', ',']);
    if let Some(inside) = rest.strip_suffix(')') {
        return inside
            .rsplit_once(" (")
            .is_some_and(|(_, place)| is_script_place(place) || matches!(place, "<anonymous>" | "native" | "index 0"));
    }
    is_script_place(rest)
}

/// Returns whether a text is a place in a script: a path and `:12:34`. Rust prints other places in the same way.
fn is_script_place(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let Some((rest, column)) = text.rsplit_once(':') else { return false };
    let Some((path, line)) = rest.rsplit_once(':') else { return false };
    let path = path.split('?').next().unwrap_or(path);
    let foreign = [".rs", ".go", ".c", ".h", ".cc", ".cpp", ".java", ".py", ".rb", ".zig"];
    digits(column) && digits(line) && !path.is_empty() && !foreign.iter().any(|end| path.ends_with(end))
}

/// Recognises the line above the code that an uncaught error shows: `/srv/app/x.js:12`, `node:internal/x:12`.
fn is_place(line: &str) -> bool {
    let Some((path, row)) = line.rsplit_once(':') else { return false };
    let script = [".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx"].iter().any(|end| path.ends_with(end));
    (script || path.starts_with("node:internal/"))
        && !path.contains(' ')
        && number(row).is_some_and(|(_, rest)| rest.is_empty())
}

#[derive(Default, PartialEq, Clone, Copy)]
enum NodeTraceState {
    #[default]
    Outside,
    /// After the place of an uncaught error and before its message, with the number of lines that may still come
    /// between.
    Place(u8),
    Frames,
    /// In the fields in braces that follow the frames, at this depth.
    Fields(u32),
}

#[derive(Default)]
struct Node {
    traces: Traces,
    trace: Trace,
    state: NodeTraceState,
    /// How a trace begins once its first frame is found.
    head: Option<(u64, String)>,
    context: Option<(u64, String)>,
    /// The error of which the one at the head is a part: an `AggregateError`.
    whole: Option<(u64, String)>,
    /// Whether the next line opens a trace.
    led: bool,
}

impl Node {
    fn end(&mut self) {
        self.traces.add(std::mem::take(&mut self.trace));
        self.state = NodeTraceState::Outside;
        self.head = None;
    }

    fn begin(&mut self, line: u64, says: &str) {
        self.traces.add(std::mem::take(&mut self.trace));
        self.trace = Trace::at(line);
        self.trace.context = self.context.take();
        self.trace.push(Link::new("", says));
        self.state = NodeTraceState::Frames;
    }

    fn frame(&mut self, text: &str) {
        let own = !["node:", "node_modules/", "node_modules\\", "<anonymous>", "internal/"]
            .iter()
            .any(|part| text.contains(part));
        let text = text.trim_end_matches([' ', '{', ',']);
        if let Some(link) = self.trace.links.back_mut() {
            link.frame(text, own, FrameOrder::InnermostFirst);
        }
    }

    fn in_frames(&mut self, line: &Line<'_>) -> bool {
        let text = line.text.trim();
        if is_frame(text) {
            self.frame(text);
            if text.ends_with('{') {
                self.state = NodeTraceState::Fields(1);
            }
            return true;
        }
        // Rows of dashes separate what was waited for from what was called.
        if text.trim_matches('-').is_empty() || text.starts_with("Node.js v") || text.starts_with("... ") {
            return true;
        }
        if line.text.starts_with(' ') && text.ends_with('{') {
            self.state = NodeTraceState::Fields(1);
            return true;
        }
        self.end();
        false
    }

    /// Takes `code: 'ENOSPC',` and `[cause]: Error: …`, which has its own frames.
    fn in_fields(&mut self, line: &Line<'_>, depth: u32) -> bool {
        let text = line.text.trim();
        if !(line.text.starts_with([' ', '}', ']']) || text.is_empty()) {
            self.end();
            return false;
        }
        let mut depth = depth;
        if is_frame(text) {
            self.frame(text);
        } else if let Some(cause) = text.strip_prefix("[cause]: ") {
            self.trace.push(Link::new("caused by", cause.trim_end_matches([' ', '{'])));
        } else if text.split_once(": ").is_some_and(|(name, _)| is_error_name(name)) {
            self.trace.push(Link::new("with", text));
        } else if let Some((name, value)) = text.split_once(": ")
            && !value.ends_with(['{', '['])
            && let Some(link) = self.trace.links.back_mut()
            && link.says.len() < 300
        {
            // The fields of the error add to its message: `code: 'ENOSPC'`.
            link.says.push_str(&format!(" [{name}: {}]", clip(value.trim_end_matches(','), 80)));
        }
        if text.ends_with(['{', '[']) {
            depth += 1;
        }
        if text.starts_with(['}', ']']) {
            depth = depth.saturating_sub(1);
        }
        self.state = if depth == 0 { NodeTraceState::Frames } else { NodeTraceState::Fields(depth) };
        true
    }
}

fn is_error_name(name: &str) -> bool {
    let name = name.strip_prefix("Uncaught ").unwrap_or(name);
    (name.ends_with("Error") || name.ends_with("Exception")) && !name.contains(' ')
}

/// Recognises `TypeError: it broke`, `AssertionError [ERR_ASSERTION]: it broke`, or the name alone.
fn is_error(text: &str) -> bool {
    let name = text.trim().split(':').next().unwrap_or_default();
    let name = name.split_once(" [").filter(|(_, code)| code.ends_with(']')).map_or(name, |(name, _)| name);
    is_error_name(name)
}

impl Stretch for Node {
    fn leads(&mut self, before: &[Line<'_>]) -> usize {
        self.led = true;
        let remember = |line: &Line<'_>| (line.number, line.clip(240));
        // A difference may stand between the message and the frames.
        let place = before.iter().rposition(|line| is_error(line.text)).or_else(|| {
            before
                .len()
                .checked_sub(1)
                .filter(|&last| before.get(last).is_some_and(|line| trouble::of(line.text).is_some()))
        });
        let Some((place, head)) = place.and_then(|place| Some((place, before.get(place)?))) else {
            (self.head, self.context, self.whole) = (None, None, None);
            return 0;
        };
        self.head = Some(remember(head));
        let above = |lines: usize| place.checked_sub(lines).and_then(|place| before.get(place));
        self.whole = above(2).filter(|_| above(1).is_some_and(|line| line.text.trim() == "[errors]: [")).map(remember);
        let context = above(1).filter(|line| self.whole.is_none() && trouble::of(line.text).is_some());
        self.context = context.map(remember);
        let is_last = place + 1 == before.len();
        match &self.whole {
            Some(_) => before.len() - place + 2,
            // A line with a level, or one that other lines follow, is counted by the fold, and only mentioned here.
            None => usize::from(is_last && (is_error(head.text) || trouble::level(head.text).is_none())),
        }
    }

    fn take(&mut self, line: &Line<'_>) -> bool {
        let state = self.state;
        match state {
            NodeTraceState::Fields(depth) => return self.in_fields(line, depth),
            NodeTraceState::Frames if self.in_frames(line) => return true,
            NodeTraceState::Place(left) if left > 0 => {
                let text = line.text;
                let says = is_error(text) || text.starts_with("Uncaught");
                if says {
                    self.begin(line.number, text);
                } else {
                    self.state = NodeTraceState::Place(left - 1);
                }
                return true;
            }
            _ => {}
        }
        if !std::mem::take(&mut self.led) {
            self.end();
            return false;
        }
        let text = line.text.trim_start();
        if is_frame(text) && line.text.len() > text.len() {
            // Without a message, it is only a place, as printed by test runners.
            let Some((number, says)) = self.head.take() else { return false };
            let Some((whole, all)) = self.whole.take() else {
                self.begin(number, &says);
                return self.in_frames(line);
            };
            self.begin(whole, all.trim().trim_end_matches(['{', ' ']).trim_matches(['[', ']']));
            self.trace.push(Link::new("with", &says));
            return self.in_fields(line, 2);
        }
        if is_place(line.text) {
            self.end();
            self.state = NodeTraceState::Place(8);
            return true;
        }
        self.state = NodeTraceState::Outside;
        false
    }

    fn page(mut self: Box<Self>) -> Page {
        self.end();
        if self.traces.is_empty() {
            return Page::default();
        }
        self.traces.page("node", ("stack trace", "stack traces"))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn an_uncaught_error_is_shown_with_its_cause() {
        let raw = "\
2025-03-03T05:00:47.928Z error order 7036 failed
StockError: no stock for SKU-116
    at reserve (/srv/orders/orders.js:13:34)
    at async main (/srv/orders/orders.js:39:17) {
  sku: 'SKU-116',
  [cause]: RangeError: warehouse 3 reported -1 items
      at reserve (/srv/orders/orders.js:13:60)
}
2025-03-03T05:00:48.904Z info order 7037 shipped
/srv/orders/orders.js:50
  throw new Error('disk')
  ^

Error: disk
    at Timeout._onTimeout (/srv/orders/orders.js:50:37)
    at listOnTimeout (node:internal/timers:581:17)

Node.js v20.20.2
";
        check(raw, 400).shows(&expect![[r#"
            node: 2 stack traces; levels: ERROR 1, INFO 1; 1 error line
            == node stack traces, by kind: 2
            2: StockError: no stock for SKU-116 [sku: 'SKU-116']
              after 1: 2025-03-03T05:00:47.928Z error order 7036 failed
              at reserve (/srv/orders/orders.js:13:34)
              at async main (/srv/orders/orders.js:39:17)
              caused by: RangeError: warehouse 3 reported -1 items
                at reserve (/srv/orders/orders.js:13:60)
            14: Error: disk
              at Timeout._onTimeout (/srv/orders/orders.js:50:37)
              (1 more frame, 1 of libraries)
            == time: 1
            2025-03-03T05:00:47.928Z to 2025-03-03T05:00:48.904Z (0.98 s)
            == lines in order: errors 1, other lines 1
            1: 2025-03-03T05:00:47.928Z error order 7036 failed
            9: 2025-03-03T05:00:48.904Z info order 7037 shipped"#]]);
    }

    #[test]
    fn other_frames_are_not_claimed() {
        let raw =
            "java.lang.X: y\n\tat a.B.c(B.java:1)\n\n    at log (src/a.ts:8:11)\nsee src/a.js:12\n  at home (today)\n";
        let shown = digest(raw, 400);
        assert!(!shown.contains("node"), "{shown}");
    }
}
