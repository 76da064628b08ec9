//! Go panics and goroutine dumps: the reason and the place, and what the goroutines were doing.

use std::collections::BTreeMap;

use super::trace::{FrameOrder, Link, Trace, Traces};
use crate::kinds::shared::counts::Tally;
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, count, number, starts};
use crate::{Item, Line, Page, Part, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Go>("go trace", opens);

const MAX_GROUPS: usize = 500;

fn opens(line: &str, _: crate::About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b'p') => line.starts_with("panic: "),
        Some(b'f') => is_fatal(line),
        Some(b'g') => goroutine(line).is_some(),
        Some(b'S') => line.starts_with("SIGQUIT: quit") || line.starts_with("SIGABRT: abort"),
        _ => false,
    }
}

/// Recognises fatal errors of the runtime. Compilers print `fatal error: ` too.
fn is_fatal(line: &str) -> bool {
    #[rustfmt::skip]
    let known = [
        "all goroutines", "concurrent map", "stack overflow", "out of memory", "unexpected signal", "sync: ",
        "runtime: ",
    ];
    line.strip_prefix("fatal error: ").is_some_and(|rest| known.iter().any(|known| rest.starts_with(known)))
}

/// Parses the state and the wait of `goroutine 1 [chan receive, 25 minutes]:`.
fn goroutine(line: &str) -> Option<(&str, Option<&str>)> {
    let (_, rest) = number(line.strip_prefix("goroutine ")?)?;
    // Newer versions print more before the bracket: `gp=0xc000 m=0 mp=0x…`.
    let (between, rest) = rest.split_once('[')?;
    let inside = rest.strip_suffix("]:").filter(|_| between.starts_with(' '))?;
    Some(inside.split_once(", ").map_or((inside, None), |(state, wait)| (state, Some(wait))))
}

#[derive(Default, PartialEq, Clone, Copy)]
enum GoTraceState {
    #[default]
    Outside,
    /// After the message, before the first goroutine.
    AfterMessage,
    Frames,
}

struct GoroutineGroup {
    count: u64,
    line: u64,
    frames: Vec<String>,
    wait: u64,
    state: String,
}

#[derive(Default)]
struct Go {
    panics: Traces,
    trace: Option<Trace>,
    state: GoTraceState,
    /// The goroutine that is being read.
    now: Option<(u64, String, u64)>,
    frames: Link,
    function: Option<String>,
    goroutines: u64,
    states: Tally<60>,
    groups: BTreeMap<String, GoroutineGroup>,
    longest: (u64, u64),
    context: Option<(u64, String)>,
}

impl Go {
    fn end_goroutine(&mut self) {
        let frames = std::mem::take(&mut self.frames);
        self.function = None;
        let Some((line, state, wait)) = self.now.take() else { return };
        let top = frames.top().unwrap_or("(no frames)").to_owned();
        // The first goroutine after a message is the one it is about.
        if let Some(trace) = &mut self.trace
            && let Some(link) = trace.links.back_mut()
            && link.frames() == 0
        {
            *link = frames.clone().saying(link.label, &link.says);
        }
        let key = format!("{state}\n{top}");
        if let Some(group) = self.groups.get_mut(&key) {
            group.count += 1;
            group.wait = group.wait.max(wait);
        } else if self.groups.len() < MAX_GROUPS {
            let frames = frames.top().map(str::to_owned).into_iter().collect();
            self.groups.insert(key, GoroutineGroup { count: 1, line, frames, wait, state });
        }
    }

    fn end(&mut self) {
        self.end_goroutine();
        if let Some(trace) = self.trace.take() {
            self.panics.add(trace);
        }
        self.state = GoTraceState::Outside;
    }

    fn message(&mut self, line: &Line<'_>) {
        self.end();
        let mut trace = Trace::at(line.number);
        trace.context = self.context.take();
        trace.push(Link::new("", line.text));
        self.trace = Some(trace);
        self.state = GoTraceState::AfterMessage;
    }

    fn begin_goroutine(&mut self, line: u64, state: &str, wait: Option<&str>) {
        self.end_goroutine();
        self.goroutines += 1;
        let state = clip(state, 60);
        self.states.add(&state);
        let minutes =
            wait.and_then(|wait| number(wait).filter(|(_, rest)| rest.starts_with(" minute"))).map_or(0, |wait| wait.0);
        if minutes > self.longest.0 {
            self.longest = (minutes, line);
        }
        self.now = Some((line, state, minutes));
        self.state = GoTraceState::Frames;
    }

    fn frame(&mut self, place: &str) {
        let Some(function) = self.function.take() else { return };
        let place = place.trim();
        let place = place.rsplit_once(" +0x").map_or(place, |(place, _)| place);
        let own = !function.starts_with("created by ") && is_own(&function, place);
        let name = function.rsplit_once('(').map_or(function.as_str(), |(name, _)| name);
        if function.starts_with("created by ") {
            return;
        }
        self.frames.frame(&format!("{name} {place}"), own, FrameOrder::InnermostFirst);
    }

    /// Takes a line of the current goroutine.
    fn in_frames(&mut self, text: &str) -> bool {
        if text.is_empty() || text.starts_with("...") || text.starts_with("goroutine running on other") {
            return true;
        }
        if let Some(place) = text.strip_prefix('\t') {
            self.frame(place);
            return true;
        }
        let named =
            text.starts_with("created by ") || (text.ends_with(')') && text.contains('(') && text.contains('.'));
        if named && !text.starts_with(' ') {
            self.function = Some(clip(text, 300));
            return true;
        }
        text.starts_with("exit status ") || is_register(text)
    }
}

/// Recognises `rax    0x0`.
fn is_register(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let (name, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    name.len() <= 6 && value.starts_with("0x") && words.next().is_none()
}

fn is_own(function: &str, place: &str) -> bool {
    const LIBRARY: [&str; 7] =
        ["/pkg/mod/", "/vendor/", "/go/src/", "/lib/go", "/libexec/src/", "_testmain.go", "/go-1."];
    const STANDARD: [&str; 8] = ["runtime.", "sync.", "net/", "internal/", "syscall.", "testing.", "time.", "panic("];
    !LIBRARY.iter().any(|part| place.contains(part)) && !STANDARD.iter().any(|start| function.starts_with(start))
}

impl Stretch for Go {
    fn leads(&mut self, before: &[Line<'_>]) -> usize {
        self.context =
            before.last().filter(|line| !line.text.trim().is_empty()).map(|line| (line.number, line.clip(240)));
        0
    }

    fn take(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if starts(text, &["panic: ", "SIGQUIT: quit", "SIGABRT: "]) || is_fatal(text) {
            self.message(line);
            return true;
        }
        if let Some((state, wait)) = goroutine(text) {
            self.begin_goroutine(line.number, state, wait);
            return true;
        }
        let taken = match self.state {
            GoTraceState::Outside => return false,
            GoTraceState::AfterMessage => {
                if let Some(again) = text.trim_start().strip_prefix("panic: ").filter(|_| text.starts_with('\t'))
                    && let Some(trace) = &mut self.trace
                {
                    trace.push(Link::new("then panic", again));
                }
                text.is_empty()
                    || text.starts_with(['[', '\t'])
                    || text.starts_with("PC=")
                    || text.starts_with("runtime")
            }
            GoTraceState::Frames => self.in_frames(text),
        };
        if !taken {
            self.end();
        }
        taken
    }

    fn page(mut self: Box<Self>) -> Page {
        self.end();
        let mut page = Page::default();
        if !self.panics.is_empty() {
            page = std::mem::take(&mut self.panics).page("go", ("panic", "panics"));
        }
        if self.goroutines > 1 {
            page.join(self.dump());
        }
        page
    }
}

impl Go {
    fn dump(self) -> Page {
        let mut page = Page::new(count(self.goroutines, "goroutine", "goroutines"));
        let mut text = self.states.listed();
        if self.longest.0 > 0 {
            text.push_str(&format!("; longest wait {} minutes at line {}", self.longest.0, self.longest.1));
        }
        page.push(Part::new("goroutines by state", Weight::Fact, vec![Item::plain(text)]).of(1));
        let mut groups: Vec<GoroutineGroup> = self.groups.into_values().collect();
        groups.sort_by_key(|group| (u64::MAX - group.count, group.line));
        let total = groups.len() as u64;
        let items = groups.into_iter().take(60).map(|group| {
            let wait = if group.wait > 0 { format!(", up to {} minutes", group.wait) } else { String::new() };
            Item::at(group.line, format!("×{} [{}{wait}] {}", group.count, group.state, group.frames.join(" < ")))
        });
        page.push(Part::new("what goroutines were doing", Weight::Fact, items.collect()).of(total));
        page
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn a_panic_is_shown_with_its_goroutines() {
        let raw = "\
level=info msg=dispatch id=377
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x490565]

goroutine 1 [running]:
main.(*Broker).route(...)
\t/srv/broker/main.go:22
main.main()
\t/srv/broker/main.go:80 +0x45

goroutine 6 [chan receive, 25 minutes]:
main.(*Broker).consume(0x0?)
\t/srv/broker/main.go:40 +0x57
created by main.main
\t/srv/broker/main.go:71 +0x1de

goroutine 7 [chan receive]:
main.(*Broker).consume(0x0?)
\t/srv/broker/main.go:40 +0x57
created by main.main in goroutine 1
\t/srv/broker/main.go:71 +0x1de
exit status 2
";
        check(raw, 400).shows(&expect![[r#"
            go: 1 panic; 3 goroutines; levels: INFO 1
            == go panics, by kind: 1
            2: panic: runtime error: invalid memory address or nil pointer dereference
              after 1: level=info msg=dispatch id=377
              main.(*Broker).route /srv/broker/main.go:22
              main.main /srv/broker/main.go:80
            == goroutines by state: 1
            chan receive 2, running 1; longest wait 25 minutes at line 11
            == what goroutines were doing: 2
            5: ×1 [running] main.(*Broker).route /srv/broker/main.go:22
            11: ×2 [chan receive, up to 25 minutes] main.(*Broker).consume /srv/broker/main.go:40
            == lines in order: other lines 1
            1: level=info msg=dispatch id=377"#]]);
    }

    #[test]
    fn fatal_errors_of_compilers_are_not_claimed() {
        let shown = digest("fatal error: too many errors emitted, stopping now\ngoroutine pools\npanic mode\n", 400);
        assert!(!shown.contains("go:"), "{shown}");
    }
}
