//! JVM exceptions with their causes, alone or in a log, and thread dumps.

use super::java_threads::Threads;
use super::trace::{FrameOrder, Link, Trace, Traces};
use crate::kinds::{Kind, Stretch};
use crate::trouble;
use crate::{Line, Page};

pub(crate) const KIND: Kind = Kind::lines::<Java>("java trace", opens);

fn opens(line: &str, _: crate::About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b'\t' | b' ') => is_frame(line.trim_start()),
        Some(b'E') => line.starts_with("Exception in thread \""),
        Some(b'F') => line.starts_with("Full thread dump "),
        Some(b'C') => line.starts_with("Caused by: "),
        Some(b'"') => is_thread(line),
        _ => false,
    }
}

/// Recognises `at java.lang.Thread.run(Thread.java:840)`, possibly with a module before and a jar after.
pub(super) fn is_frame(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("at ") else { return false };
    let Some((name, place)) = rest.split_once('(') else { return false };
    let Some((place, _)) = place.split_once(')') else { return false };
    // Maven puts a space before the place.
    let name = name.trim_end();
    let place = place.rsplit('/').next().unwrap_or(place);
    let source = place.split(':').next().unwrap_or_default();
    let known = [".java", ".kt", ".scala", ".groovy", ".clj"].iter().any(|end| source.ends_with(end));
    !name.contains(' ')
        && name.contains('.')
        && (known || matches!(place, "Native Method" | "Unknown Source" | "<generated>"))
}

/// Recognises `"main" #1 prio=5 … tid=0x… nid=0x… runnable`.
fn is_thread(line: &str) -> bool {
    line.starts_with('"') && line.contains(" tid=0x") && line.contains(" nid=")
}

const MAX_MESSAGE_LINES: usize = 6;

/// Returns whether a frame belongs to the user's own code: not to the platform or a widely used library.
pub(super) fn is_own(frame: &str) -> bool {
    #[rustfmt::skip]
    const LIBRARIES: [&str; 35] = [
        "java.", "javax.", "jdk.", "sun.", "com.sun.", "jakarta.", "kotlin.", "kotlinx.", "scala.", "groovy.",
        "org.springframework.", "org.apache.", "org.hibernate.", "org.junit.", "org.eclipse.", "org.jboss.",
        "org.postgresql.", "org.slf4j.", "org.mockito.", "io.netty.", "io.undertow.", "io.micrometer.", "io.grpc.",
        "reactor.", "com.fasterxml.", "com.zaxxer.", "com.google.", "com.mysql.", "com.amazonaws.", "ch.qos.",
        "okhttp3.", "oracle.", "junit.", "org.gradle.", "org.codehaus.",
    ];
    let name = frame.trim_start().strip_prefix("at ").unwrap_or(frame);
    // A module may precede the class: `java.base/java.lang.Thread.run`, `app//com.example.App.main`.
    let class = name.split('(').next().unwrap_or(name).rsplit('/').next().unwrap_or(name);
    !LIBRARIES.iter().any(|start| class.starts_with(start))
        && !class.contains("$$Lambda")
        && !class.contains("$$FastClass")
}

#[derive(Default)]
struct Java {
    traces: Traces,
    trace: Trace,
    threads: Threads,
    inside: bool,
    in_dump: bool,
    head: Option<(u64, String)>,
    context: Option<(u64, String)>,
    /// Whether the next line opens a trace.
    led: bool,
}

impl Java {
    fn end(&mut self) {
        self.traces.add(std::mem::take(&mut self.trace));
        self.inside = false;
    }

    fn begin(&mut self, line: u64, says: &str) {
        self.end();
        self.trace = Trace::at(line);
        self.trace.context = self.context.take();
        let says = says.trim();
        self.trace.push(Link::new("", says));
        self.inside = true;
    }

    /// Takes a line of an open trace.
    fn goes_on(&mut self, text: &str) -> bool {
        let inner = text.trim_start();
        if is_frame(inner) {
            let own = is_own(inner);
            if let Some(link) = self.trace.links.back_mut() {
                link.frame(inner, own, FrameOrder::InnermostFirst);
            }
            return true;
        }
        for (start, label) in
            [("Caused by: ", "caused by"), ("Suppressed: ", "suppressed"), ("Wrapped by: ", "wrapped by")]
        {
            if let Some(says) = inner.strip_prefix(start) {
                self.trace.push(Link::new(label, says));
                return true;
            }
        }
        inner.starts_with("... ") && inner.ends_with(" more")
            || inner.starts_with("... ") && inner.contains("common frames omitted")
            || inner.starts_with("[CIRCULAR REFERENCE")
    }
}

impl Stretch for Java {
    fn leads(&mut self, before: &[Line<'_>]) -> usize {
        self.led = true;
        let before = &before[before.len().saturating_sub(MAX_MESSAGE_LINES)..];
        let remember = |line: &Line<'_>| (line.number, line.clip(300));
        let last = before.len().saturating_sub(1);
        // A message may have several lines. A line with a level is counted by the fold, and only mentioned here.
        let is_head = |(place, line): (usize, &Line<'_>)| {
            let is_near = place == last || names_exception(line.text.split([':', ' ']).next().unwrap_or_default());
            is_near && is_exception(line.text) && trouble::level(line.text).is_none()
        };
        let own = before.iter().enumerate().rposition(is_head);
        let place = own.unwrap_or(last);
        let head = before.get(place).filter(|line| own.is_some() || names_trouble(line.text));
        self.head = head.map(remember);
        let above = place.checked_sub(1).and_then(|place| before.get(place)).filter(|_| self.head.is_some());
        self.context = above.filter(|line| trouble::of(line.text).is_some()).map(remember);
        own.map_or(0, |own| before.len() - own)
    }

    fn take(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if text.starts_with("Full thread dump ") || (!self.in_dump && is_thread(text)) {
            self.end();
            self.led = false;
            self.in_dump = true;
        }
        if self.in_dump {
            self.in_dump = self.threads.take(line);
            if self.in_dump {
                return true;
            }
        }
        if self.inside && self.goes_on(text) {
            return true;
        }
        if !std::mem::take(&mut self.led) {
            self.end();
            return false;
        }
        if text.starts_with("Exception in thread \"") {
            self.begin(line.number, text);
            return true;
        }
        let inner = text.trim_start();
        if is_frame(inner) && inner.len() < text.len() || text.starts_with("Caused by: ") {
            let Some((number, head)) = self.head.take() else { return false };
            self.begin(number, &head);
            return self.goes_on(text);
        }
        self.end();
        false
    }

    fn page(mut self: Box<Self>) -> Page {
        self.end();
        let mut page = Page::default();
        if !self.threads.is_empty() {
            page.join(self.threads.page());
        }
        if !self.traces.is_empty() {
            page.join(self.traces.page("java", ("exception", "exceptions")));
        }
        page
    }
}

/// Returns whether a line can be the message above frames: it reports trouble, or names an exception anywhere.
fn names_trouble(text: &str) -> bool {
    trouble::of(text).is_some() || text.split([' ', ':', '(', ')', '[', ']', ',']).any(names_exception)
}

/// Recognises `IOException` and `java.lang.OutOfMemoryError`.
fn names_exception(word: &str) -> bool {
    ["Exception", "Error", "Throwable"].iter().any(|end| word.len() > end.len() && word.ends_with(end))
}

/// Recognises `com.example.FooException: it broke`, or the name alone.
fn is_exception(text: &str) -> bool {
    let name = text.split([':', ' ']).next().unwrap_or_default();
    let last = name.rsplit(['.', '$']).next().unwrap_or_default();
    name.contains('.')
        && (last.starts_with(|c: char| c.is_ascii_uppercase()))
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'$' | b'_'))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn an_exception_is_shown_with_its_causes() {
        let raw = "\
2026-03-01 08:00:43.245 ERROR 4211 --- [exec-7] dispatcherServlet : threw exception
java.lang.IllegalStateException: order 752 has no lines
\tat com.example.shop.OrderService.total(OrderService.java:87) ~[classes!/:na]
\tat org.springframework.web.servlet.DispatcherServlet.doDispatch(DispatcherServlet.java:1089) ~[spring.jar!/:6.1]
\tSuppressed: java.io.IOException: closed
\t\tat com.example.shop.Pool.close(Pool.java:9)
Caused by: java.sql.SQLException: timed out
\tat com.example.shop.OrderRepository.find(OrderRepository.java:22)
\t... 20 common frames omitted
2026-03-01 08:00:44.000  INFO 4211 --- [exec-7] next
Exception in thread \"main\" java.lang.NullPointerException
\tat java.base/java.util.Objects.requireNonNull(Objects.java:220)
\tat App.main(App.java:3)
";
        check(raw, 500).shows(&expect![[r#"
            java: 2 exceptions; levels: ERROR 1, INFO 1; 1 error line
            == java exceptions, by kind: 2
            2: java.lang.IllegalStateException: order 752 has no lines
              after 1: 2026-03-01 08:00:43.245 ERROR 4211 --- [exec-7] dispatcherServlet : threw exception
              at com.example.shop.OrderService.total(OrderService.java:87) ~[classes!/:na]
              (1 more frame, 1 of libraries)
              suppressed: java.io.IOException: closed
                at com.example.shop.Pool.close(Pool.java:9)
              caused by: java.sql.SQLException: timed out
                at com.example.shop.OrderRepository.find(OrderRepository.java:22)
            11: Exception in thread "main" java.lang.NullPointerException
              at App.main(App.java:3)
              (1 more frame, 1 of libraries)
            == time: 1
            2026-03-01 08:00:43.245 to 2026-03-01 08:00:44.000 (0.75 s)
            == lines in order: errors 1, other lines 1
            1: 2026-03-01 08:00:43.245 ERROR 4211 --- [exec-7] dispatcherServlet : threw exception
            10: 2026-03-01 08:00:44.000  INFO 4211 --- [exec-7] next"#]]);
    }

    #[test]
    fn a_thread_dump_is_told_by_states_and_locks() {
        let raw = "\
Full thread dump OpenJDK 64-Bit Server VM (17.0.15):

\"worker-1\" #12 prio=5 os_prio=0 cpu=0.60ms elapsed=3.12s tid=0x00007f nid=0x124a waiting for monitor entry  [0x1]
   java.lang.Thread.State: BLOCKED (on object monitor)
\tat Pool.move(Pool.java:14)
\t- waiting to lock <0x000000069dc00230> (a Account)
\tat java.lang.Thread.run(java.base@17.0.15/Thread.java:840)

\"worker-2\" #13 prio=5 os_prio=0 cpu=90.60ms elapsed=3.12s tid=0x00007e nid=0x124b runnable  [0x2]
   java.lang.Thread.State: RUNNABLE
\tat Pool.spin(Pool.java:20)
\t- locked <0x000000069dc00230> (a Account)
\tat java.lang.Thread.run(java.base@17.0.15/Thread.java:840)

JNI global refs: 4, weak refs: 0

done
";
        check(raw, 500).shows(&expect![[r#"
            java thread dump: 2 threads, 0 deadlocks
            == threads by state: 1
            BLOCKED 1, RUNNABLE 1
            == most processor time in own code: 2
            3: "worker-1" cpu=0.6ms BLOCKED at Pool.move(Pool.java:14)
            9: "worker-2" cpu=90.6ms RUNNABLE at Pool.spin(Pool.java:20)
            == threads by name, state and frame: 2
            3: "worker-1" BLOCKED at Pool.move(Pool.java:14), waits for 0x000000069dc00230 (a Account) held by "worker-2"
            9: "worker-2" RUNNABLE at Pool.spin(Pool.java:20)
            == lines in order: last lines 1
            17: done"#]]);
    }

    #[test]
    fn a_lock_is_held_by_the_thread_that_has_it_in_the_same_dump() {
        let thread = |name: &str, state: &str, lines: &[&str]| {
            let lines: String = lines.iter().map(|line| format!("\t{line}\n")).collect();
            format!("\"{name}\" #1 prio=5 tid=0x1 nid=0x2 runnable\n   java.lang.Thread.State: {state}\n{lines}\n")
        };
        let dump = "Full thread dump OpenJDK 64-Bit Server VM (17.0.15):\n\n";
        let raw = [
            dump,
            &thread("worker", "BLOCKED", &["at Pool.move(Pool.java:14)", "- waiting to lock <0x01> (a Account)"]),
            &thread("holder", "RUNNABLE", &["at Pool.spin(Pool.java:20)", "- locked <0x01> (a Account)"]),
            &thread(
                "sleeper",
                "WAITING",
                &["- waiting on <0x01> (a Account)", "at Pool.idle(Pool.java:30)", "- locked <0x01> (a Account)"],
            ),
            dump,
            &thread("later", "RUNNABLE", &["at Pool.sum(Pool.java:25)", "- locked <0x01> (a Account)"]),
        ]
        .concat();
        let told = digest(&raw, 500);
        assert!(told.contains("waits for 0x01 (a Account) held by \"holder\"\n"), "{told}");
    }

    #[test]
    fn frames_of_others_are_not_claimed() {
        let shown = digest("Error: x\n    at run (/srv/a.js:1:2)\nCaused by:\n  no such file\n\"a\" is a name\n", 400);
        assert!(!shown.contains("java"), "{shown}");
    }
}
