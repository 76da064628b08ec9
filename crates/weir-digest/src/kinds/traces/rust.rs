//! Rust panics, with or without a backtrace, and errors with one.

use super::trace::{FrameOrder, Link, Trace, Traces};
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, number};
use crate::trouble::{self, Trouble};
use crate::{Line, Page};

pub(crate) const KIND: Kind = Kind::lines::<Rust>("rust trace", opens);

/// The maximum number of lines kept of a panic message.
const MAX_MESSAGE_LINES: u8 = 6;

fn opens(line: &str, _: crate::About<'_>) -> bool {
    line == BACKTRACE || line.starts_with("thread '") && line.contains("' ") && line.contains(" panicked at ")
}

/// The line before the backtrace that an error carries, as `anyhow` prints it.
const BACKTRACE: &str = "Stack backtrace:";

#[derive(Default, PartialEq, Clone, Copy)]
enum RustTraceState {
    #[default]
    Outside,
    /// In the message of the panic, after this many of its lines.
    Message(u8),
    Backtrace,
    /// After the backtrace: a note about it may follow.
    Ended,
}

#[derive(Default)]
struct Rust {
    traces: Traces,
    /// Errors that are not panics.
    errors: Traces,
    trace: Trace,
    /// The error whose backtrace may follow.
    error: Option<(u64, String)>,
    is_error: bool,
    state: RustTraceState,
    place: String,
    /// A frame whose place is on the next line.
    frame: Option<String>,
}

impl Rust {
    fn begin(&mut self, line: &Line<'_>) {
        self.end();
        self.trace = Trace::at(line.number);
        let Some((_, at)) = line.text.split_once(" panicked at ") else { return };
        // Until 1.72, the message was in quotes before the place.
        match at.strip_prefix('\'').and_then(|rest| rest.rsplit_once("', ")) {
            Some((says, place)) => {
                self.trace.push(Link::new("", says));
                place.clone_into(&mut self.place);
                self.state = RustTraceState::Message(MAX_MESSAGE_LINES);
            }
            None => {
                at.trim_end_matches(':').clone_into(&mut self.place);
                self.state = RustTraceState::Message(0);
            }
        }
    }

    fn end(&mut self) {
        self.end_frame(None);
        if std::mem::take(&mut self.is_error) {
            self.errors.add(std::mem::take(&mut self.trace));
        } else if self.state != RustTraceState::Outside {
            if self.trace.links.is_empty() {
                self.trace.push(Link::new("", "(no message)"));
            }
            let place = clip(&self.place, 300);
            if let Some(link) = self.trace.links.front_mut() {
                link.says = format!("{} (panicked at {place})", link.says);
            }
        }
        self.traces.add(std::mem::take(&mut self.trace));
        self.state = RustTraceState::Outside;
    }

    /// Adds the current frame to the trace, with its place if it has one.
    fn end_frame(&mut self, place: Option<&str>) {
        let Some(frame) = self.frame.take() else { return };
        let name = frame.trim_start_matches(['<', '&']);
        let library = ["std", "core", "alloc", "rust_begin_unwind", "__", "_start", "tokio", "clone", "start_thread"];
        let of_library = library.iter().any(|start| {
            name.strip_prefix(start)
                .is_some_and(|rest| start.ends_with('_') || rest.is_empty() || rest.starts_with([':', '[']))
        });
        let far = place.is_some_and(|place| {
            ["/rustc/", "/.cargo/registry/", "/library/", "/sysdeps/", "/csu/"].iter().any(|part| place.contains(part))
        });
        let text = place.map_or(frame.clone(), |place| format!("{} {place}", clip(&frame, 160)));
        if let Some(link) = self.trace.links.front_mut() {
            link.frame(&text, !of_library && !far && place.is_some(), FrameOrder::InnermostFirst);
        }
    }

    fn message(&mut self, line: &Line<'_>, count: u8) -> bool {
        let text = line.text;
        if text.starts_with("stack backtrace:") {
            self.state = RustTraceState::Backtrace;
            return true;
        }
        if text.starts_with("note: ") {
            self.state = RustTraceState::Ended;
            return true;
        }
        if count >= MAX_MESSAGE_LINES || (count > 0 && (text.trim().is_empty() || !goes_on(text))) {
            self.end();
            return false;
        }
        match self.trace.links.front_mut() {
            Some(link) => link.says.push_str(&format!(" / {}", clip(text.trim(), 200))),
            None => self.trace.push(Link::new("", text)),
        }
        self.state = RustTraceState::Message(count + 1);
        true
    }

    fn backtrace(&mut self, text: &str) -> bool {
        let inner = text.trim_start();
        if let Some(place) = inner.strip_prefix("at ").filter(|_| text.len() > inner.len()) {
            self.end_frame(Some(&format!("at {place}")));
            return true;
        }
        if let Some((_, rest)) = number(inner)
            && let Some(name) = rest.strip_prefix(": ")
        {
            self.end_frame(None);
            let name = name.trim_start();
            let name = name.strip_prefix("0x").and_then(|rest| rest.split_once(" - ")).map_or(name, |(_, name)| name);
            // The hash after the name changes with every build.
            let name = name.rsplit_once("::h").filter(|(_, hash)| hash.len() == 16).map_or(name, |(name, _)| name);
            self.frame = Some(clip(name, 300));
            return true;
        }
        self.end_frame(None);
        if text.starts_with("note: ") {
            self.state = RustTraceState::Ended;
            return true;
        }
        self.end();
        false
    }
}

/// Recognises the further lines of an assertion, and other indented lines.
fn goes_on(text: &str) -> bool {
    text.starts_with(' ') || text.starts_with("left:") || text.starts_with("right:")
}

impl Stretch for Rust {
    fn leads(&mut self, before: &[Line<'_>]) -> usize {
        // The causes of an error are listed between it and its backtrace. The fold has all of them.
        let error =
            before.iter().rfind(|line| trouble::of(line.text) == Some(Trouble::Error) && !line.text.starts_with(' '));
        self.error = error.map(|line| (line.number, line.clip(300)));
        // An empty line precedes a panic, and is not informative.
        usize::from(before.last().is_some_and(|line| line.text.is_empty()))
    }

    fn take(&mut self, line: &Line<'_>) -> bool {
        let taken = match self.state {
            RustTraceState::Outside => false,
            RustTraceState::Message(count) => self.message(line, count),
            RustTraceState::Backtrace => self.backtrace(line.text),
            RustTraceState::Ended if line.text.starts_with("note: ") => true,
            RustTraceState::Ended => {
                self.end();
                false
            }
        };
        if taken {
            return true;
        }
        if line.text == BACKTRACE
            && let Some((number, error)) = self.error.take()
        {
            self.end();
            self.trace = Trace::at(number);
            self.trace.push(Link::new("", &error));
            (self.state, self.is_error) = (RustTraceState::Backtrace, true);
            return true;
        }
        let is_panic = line.text.starts_with("thread '") && line.text.contains(" panicked at ");
        if is_panic {
            self.begin(line);
        }
        is_panic
    }

    fn page(mut self: Box<Self>) -> Page {
        self.end();
        let mut page = Page::default();
        if !self.traces.is_empty() {
            page.join(self.traces.page("rust", ("panic", "panics")));
        }
        if !self.errors.is_empty() {
            page.join(self.errors.page("rust", ("error with a backtrace", "errors with backtraces")));
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn more_kinds_than_are_kept_are_not_a_number() {
        let panic = |number: u32| format!("thread 'main' panicked at src/main.rs:1:1:\nfault{number}: no\n");
        let told = digest(&(0..205).map(panic).collect::<String>(), 600);
        assert!(told.contains("rust: 205 panics of more than 200 kinds; "), "{told}");
    }

    #[test]
    fn panics_are_counted_by_place() {
        let one = "\
thread 'worker-7' (22174) panicked at src/main.rs:11:48:
assertion `left == right` failed: lost
  left: 1
 right: 2
stack backtrace:
   0: rust_begin_unwind
             at /rustc/5980/library/std/src/panicking.rs:665:5
   1: core::panicking::panic_fmt
             at /rustc/5980/library/core/src/panicking.rs:76:14
   2: main::walk::he57c3d551b603fa5
             at ./src/main.rs:15:5
   3: main::main
             at ./src/main.rs:42:21
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
";
        let raw = format!("start\n\n{one}\n{one}thread 'main' panicked at 'old', src/lib.rs:1:2\nend\n");
        check(&raw, 400).shows(&expect![[r#"
            rust: 3 panics of 2 kinds
            == rust panics, by kind: 2
            3: assertion `left == right` failed: lost / left: 1 / right: 2 (panicked at src/main.rs:11:48) (×2, last at line 18)
              main::walk at ./src/main.rs:15:5
              main::main at ./src/main.rs:42:21
              (2 more frames, 2 of libraries)
            32: old (panicked at src/lib.rs:1:2)
            == lines in order: other lines 1, last lines 1
            1: start
            33: end"#]]);
    }

    #[test]
    fn a_thread_that_is_only_named_is_no_panic() {
        assert!(!digest("thread 'main' started\nthe thread panicked at noon\n", 400).contains("rust"));
    }
}
