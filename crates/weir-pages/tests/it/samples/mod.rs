//! Pages with made-up content, used by the tests and by the example that writes them.
//!
//! Every foreign text is made by `say`, so a test can replace all of them at once.

pub(crate) mod account;
pub(crate) mod kept;
pub(crate) mod machine;
pub(crate) mod session;

use weir_core::Timestamp;
use weir_pages::{Moment, Money, ProjectLink, Shell, Text, Theme};

pub(crate) type Say<'a> = &'a dyn Fn(&str) -> Text;

pub(crate) fn plainly(text: &str) -> Text {
    text.into()
}

/// 17 November 2026, 12:30, an hour ahead of UTC.
const NOW: i64 = 1_794_915_000_000;

/// Returns the moment some minutes before now.
pub(crate) fn ago(minutes: i64) -> Moment {
    Moment { at: Timestamp(NOW - minutes * 60_000), offset_seconds: 3_600 }
}

/// Returns the moment some days before now.
pub(crate) fn days_ago(days: i64) -> Moment {
    ago(days * 24 * 60)
}

pub(crate) fn cents(number: i64) -> Money {
    Money(number * 10_000)
}

/// The frame of a page in one project.
pub(crate) fn shell(say: Say<'_>) -> Shell {
    let link = |name: &str| ProjectLink { key: say(name), name: say(name) };
    Shell {
        project: Some(link("harbour")),
        other_projects: vec![link("depot"), link("tideline")],
        theme: Theme::System,
        has_keys: true,
        token: say("f2b1c8d04e7a4a6f"),
        path: say("/in/harbour/notes"),
        version: say("0.1.0"),
        now: ago(0),
        notes_to_review: Some(2),
        failing_checks: Some(2),
    }
}

/// The frame of a page over all projects.
pub(crate) fn wide_shell(say: Say<'_>) -> Shell {
    let shell = shell(say);
    let mut projects: Vec<ProjectLink> = shell.project.clone().into_iter().collect();
    projects.extend(shell.other_projects);
    Shell { project: None, other_projects: projects, path: say("/"), ..self::shell(say) }
}

pub(crate) type Sample = (&'static str, String);

pub(crate) fn full(say: Say<'_>) -> Vec<Sample> {
    let (one, all) = (shell(say), wide_shell(say));
    vec![
        ("today", account::today(say).render(&all)),
        ("sessions", account::sessions(say).render(&all)),
        ("session", session::session(say).render(&one)),
        ("search", kept::search(say).render(&one)),
        ("entry", kept::entry(say).render(&one)),
        ("notes", kept::notes(say).render(&one)),
        ("window", machine::window(say).render(&all)),
        ("pauses", machine::pauses(say).render(&all)),
        ("prefix", machine::prefix(say).render(&all)),
        ("projects", account::projects(say).render(&one)),
        ("health", machine::health(say).render(&one)),
        ("settings", machine::settings(say).render(&one)),
    ]
}

/// The page for someone who was not let in, which has no shell.
pub(crate) fn alone(say: Say<'_>) -> Sample {
    ("message-alone", machine::message(say).render_alone())
}

/// Every page with nothing on it, and what stands in place of Today before the first event.
pub(crate) fn bare(say: Say<'_>) -> Vec<Sample> {
    let shell = Shell { notes_to_review: None, failing_checks: Some(0), ..shell(say) };
    vec![
        ("first-steps", account::first_steps(say).render(&shell)),
        ("today-bare", account::nothing_today().render(&shell)),
        ("today-imported", account::imported(say).render(&shell)),
        ("sessions-bare", account::no_sessions().render(&shell)),
        ("session-bare", session::bare(say).render(&shell)),
        ("search-bare", kept::nothing_asked(say).render(&shell)),
        ("entry-bare", kept::gone(say).render(&shell)),
        ("notes-bare", kept::no_notes().render(&shell)),
        ("window-bare", machine::no_window(say).render(&shell)),
        ("pauses-bare", machine::no_pauses(say).render(&shell)),
        ("prefix-bare", machine::no_prefix(say).render(&shell)),
        ("projects-bare", account::no_projects().render(&shell)),
        ("health-bare", machine::unmeasured(say).render(&shell)),
        ("settings-bare", machine::nothing_set().render(&shell)),
        ("message", machine::message(say).render(&shell)),
    ]
}
