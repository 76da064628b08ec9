//! Python tracebacks, alone or in a log: chains, exception groups and dumps of the fault handler.

use super::trace::{FrameOrder, Link, MEMBER, Trace, Traces};
use crate::kinds::{Kind, Stretch, stamp};
use crate::text::{clip, starts};
use crate::{Line, Page};

pub(crate) const KIND: Kind = Kind::lines::<Python>("python trace", opens);

const TRACEBACK: &str = "Traceback (most recent call last):";

fn opens(line: &str, _: crate::About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b'T') => line.starts_with(TRACEBACK),
        Some(b'F') => line.starts_with("Fatal Python error: "),
        Some(b' ') => line.trim_start().starts_with("+ Exception Group Traceback"),
        _ => false,
    }
}

#[derive(Default, PartialEq, Clone, Copy)]
enum PythonTraceState {
    #[default]
    Outside,
    /// Between the heading and the message of the error.
    Frames,
    /// After the message of the error: a chain may continue.
    AfterMessage,
    /// In the output of the fault handler.
    Fault,
}

#[derive(Default)]
struct Python {
    traces: Traces,
    trace: Trace,
    link: Link,
    state: PythonTraceState,
    /// The relation of the next error to the previous one.
    label: &'static str,
    /// Whether lines begin with the bar of an exception group.
    grouped: bool,
    context: Option<(u64, String)>,
    /// Whether the next line opens a trace.
    led: bool,
}

impl Python {
    fn begin(&mut self, line: &Line<'_>, text: &str) {
        if self.state != PythonTraceState::AfterMessage || (self.label.is_empty() && !self.grouped) {
            self.end();
            self.trace = Trace::at(line.number);
            self.trace.context = self.context.take();
        }
        self.link = Link::default();
        self.state = PythonTraceState::Frames;
        if text.starts_with("Fatal Python error") {
            self.link = Link::new("", text);
            self.state = PythonTraceState::Fault;
        }
    }

    /// Adds the error that was just read to its trace.
    fn close_link(&mut self) {
        let link = std::mem::take(&mut self.link);
        if link.says.is_empty() && link.frames() == 0 {
            return;
        }
        match (self.label, self.grouped) {
            // The members of a group follow it; a chain is printed with its cause first.
            (label, true) if label == MEMBER => {
                let says = link.says.clone();
                self.trace.push(link.saying(MEMBER, &says));
            }
            (label, _) => {
                if let Some(cause) = self.trace.links.front_mut() {
                    cause.label = label;
                }
                self.trace.links.push_front(link);
            }
        }
    }

    fn end(&mut self) {
        if matches!(self.state, PythonTraceState::Frames | PythonTraceState::Fault) {
            self.close_link();
        }
        self.traces.add(std::mem::take(&mut self.trace));
        self.state = PythonTraceState::Outside;
        self.label = "";
        self.grouped = false;
    }

    fn frame(&mut self, text: &str) {
        let library = ["site-packages", "dist-packages", "/lib/python", "<frozen ", "/usr/lib/", "\\Lib\\"];
        let own = !library.iter().any(|part| text.contains(part));
        let order =
            if self.state == PythonTraceState::Fault { FrameOrder::InnermostFirst } else { FrameOrder::InnermostLast };
        self.link.frame(text, own, order);
    }

    fn take_text(&mut self, line: &Line<'_>, text: &str) -> bool {
        if starts(text, &[TRACEBACK, "Exception Group Traceback", "Fatal Python"]) {
            let goes_on = self.state == PythonTraceState::AfterMessage && (self.grouped || !self.label.is_empty());
            if !goes_on && !std::mem::take(&mut self.led) {
                self.end();
                return false;
            }
            self.begin(line, text);
            return true;
        }
        match self.state {
            PythonTraceState::Outside => false,
            PythonTraceState::Frames if text.starts_with("  File ") => {
                self.frame(text);
                true
            }
            PythonTraceState::Frames if text.starts_with("  ") || text.is_empty() => true,
            // Another process logs to the same output.
            PythonTraceState::Frames if stamp::at_start(text).is_some() => false,
            PythonTraceState::Frames => {
                self.link.says = clip(text, 400);
                self.close_link();
                self.label = "";
                self.state = PythonTraceState::AfterMessage;
                true
            }
            PythonTraceState::Fault => self.fault(text),
            PythonTraceState::AfterMessage => self.take_after_message(text),
        }
    }

    fn fault(&mut self, text: &str) -> bool {
        if text.starts_with("  File ") {
            self.frame(text);
            return true;
        }
        let begins = ["Current thread ", "Thread 0x", "Extension modules:", "Python runtime state:", "  "];
        let belongs = text.is_empty() || starts(text, &begins);
        if !belongs {
            self.end();
        }
        belongs
    }

    fn take_after_message(&mut self, text: &str) -> bool {
        // What another process raised is quoted.
        let follows = starts(text, &["  ", "[SQL", "(Background on", "\"\"\""]);
        if text.is_empty() || follows {
            return true;
        }
        if text.starts_with("The above exception was the direct cause") {
            self.label = "caused by";
            return true;
        }
        if text.starts_with("During handling of the above exception") {
            self.label = "while handling";
            return true;
        }
        self.end();
        false
    }
}

impl Stretch for Python {
    fn leads(&mut self, before: &[Line<'_>]) -> usize {
        self.led = true;
        self.context =
            before.last().filter(|line| !line.text.trim().is_empty()).map(|line| (line.number, line.clip(240)));
        0
    }

    fn take(&mut self, line: &Line<'_>) -> bool {
        let trimmed = line.text.trim_start();
        if trimmed.starts_with("+ Exception Group Traceback")
            && !(self.grouped && self.state == PythonTraceState::AfterMessage)
        {
            if !std::mem::take(&mut self.led) {
                self.end();
                return false;
            }
            self.begin(line, trimmed);
            self.grouped = true;
            return true;
        }
        if !self.grouped {
            return self.take_text(line, line.text);
        }
        if trimmed.starts_with("+-") || trimmed == "+" {
            if self.state == PythonTraceState::Frames {
                self.close_link();
            }
            self.state = PythonTraceState::AfterMessage;
            self.label = MEMBER;
            return true;
        }
        if let Some(text) = trimmed.strip_prefix("| ").or_else(|| trimmed.strip_prefix("+ ")) {
            let member = self.label == MEMBER;
            let heading = text.starts_with(TRACEBACK) || text.starts_with("Exception Group");
            let goes_on = text.starts_with("The above") || text.starts_with("During handling") || text.starts_with(' ');
            if member
                && self.state == PythonTraceState::AfterMessage
                && !heading
                && !goes_on
                && !text.starts_with("...")
            {
                // A member that was never raised has no frames.
                self.trace.push(Link::new(MEMBER, text));
                return true;
            }
            self.take_text(line, text);
            if member {
                self.label = MEMBER;
            }
            return true;
        }
        if trimmed == "|" {
            return true;
        }
        self.end();
        false
    }

    fn page(mut self: Box<Self>) -> Page {
        self.end();
        self.traces.page("python", ("traceback", "tracebacks"))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    const CHAIN: &str = "\
ERROR billing cannot bill INV-1
Traceback (most recent call last):
  File \"/srv/billing/rates.py\", line 10, in rate
    return RATES[currency]
           ~~~~~^^^^^^^^^^
KeyError: 'CHF'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File \"/srv/billing/billing.py\", line 41, in safe_bill
    invoice = bill(db, acc)
  File \"/usr/lib/python3.12/contextlib.py\", line 81, in inner
    return func(*args, **kwds)
  File \"/srv/billing/rates.py\", line 12, in rate
    raise RateMissing(currency) from err
rates.RateMissing: no rate for 'CHF'
INFO billing next
";

    #[test]
    fn a_log_line_between_frames_is_not_the_message() {
        let told = digest(
            "Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in run\n    go()\n\
             2026-09-02 10:00:00 INFO worker 2 took job 7\n  File \"/app/b.py\", line 9, in go\n    stop()\n\
             ValueError: no\n",
            400,
        );
        assert!(told.contains("\n1: ValueError: no\n  File \"/app/b.py\", line 9, in go\n"), "{told}");
        assert!(told.contains("\n4: 2026-09-02 10:00:00 INFO worker 2 took job 7\n"), "{told}");
    }

    #[test]
    fn a_chain_is_one_traceback() {
        check(&CHAIN.repeat(2), 400).shows(&expect![[r#"
            python: 2 tracebacks of 1 kind; levels: ERROR 2, INFO 2; 2 error lines
            == python tracebacks, by kind: 1
            2: rates.RateMissing: no rate for 'CHF' (×2, last at line 20)
              after 1: ERROR billing cannot bill INV-1
              File "/srv/billing/rates.py", line 12, in rate
              File "/srv/billing/billing.py", line 41, in safe_bill
              (1 more frame, 1 of libraries)
              caused by: KeyError: 'CHF' (×2)
                File "/srv/billing/rates.py", line 10, in rate
            == lines in order: errors 2, other lines 1, last lines 1
            1: ERROR billing cannot bill INV-1
            18: INFO billing next
            19: ERROR billing cannot bill INV-1
            36: INFO billing next"#]]);
    }

    #[test]
    fn an_exception_group_names_its_members() {
        let raw = "  + Exception Group Traceback (most recent call last):
  |   File \"/srv/a.py\", line 9, in <module>
  |     main()
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: one
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File \"/srv/a.py\", line 3, in two
    |     raise TypeError('two')
    | TypeError: two
    +------------------------------------
bye
";
        check(raw, 400).shows(&expect![[r#"
            python: 1 traceback
            == python tracebacks, by kind: 1
            1: ExceptionGroup: two (2 sub-exceptions)
              File "/srv/a.py", line 9, in <module>
              member: ValueError: one
              member: TypeError: two
            == lines in order: last lines 1
            13: bye"#]]);
    }

    #[test]
    fn errors_alone_are_no_traceback() {
        let shown = digest("ValueError: x\n  File \"a.py\", line 1\nTraceback is a word\n", 400);
        assert!(!shown.contains("python"), "{shown}");
    }
}
