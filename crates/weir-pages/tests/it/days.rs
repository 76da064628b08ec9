//! Days of the account and of the reader, and what a page does not list.

use weir_core::{Origin, Timestamp};
use weir_pages::search::{Filters, HitKind};
use weir_pages::session::{EventLine, Item, Tone};
use weir_pages::today::{Account, FirstSteps};
use weir_pages::{Moment, Shell};

use crate::samples::{self, days_ago, plainly};

fn moment(text: &str, hours: i32) -> Moment {
    let time: jiff::Timestamp = text.parse().unwrap();
    Moment { at: Timestamp(time.as_millisecond()), offset_seconds: hours * 3_600 }
}

fn event(at: Moment, text: &str) -> EventLine {
    EventLine {
        at,
        request: None,
        kind: "prompt".into(),
        origin: Origin::User,
        tone: Tone::User,
        text: text.into(),
        outcome: None,
        reference: None,
    }
}

#[test]
fn today_is_the_last_day_of_the_account_wherever_the_reader_is() {
    let mut today = samples::account::today(&plainly);
    let noons = ["2026-11-17T12:00:00Z", "2026-11-18T12:00:00Z"];
    let last: Vec<_> = today.per_day.split_off(12);
    today.per_day = last
        .into_iter()
        .zip(noons)
        .map(|(mut day, noon)| {
            day.at = moment(noon, 0);
            day
        })
        .collect();
    let shell = Shell { now: moment("2026-11-18T04:00:00Z", -8), ..samples::wide_shell(&plainly) };
    let page = today.render(&shell);
    assert!(page.contains("<p>Wednesday 18 November in UTC, all projects."), "{page}");
    let labels = page.find(">Tue 17</text>").zip(page.find(">Today</text>"));
    assert!(labels.is_some_and(|(tuesday, today)| tuesday < today), "{page}");
}

#[test]
fn a_session_is_found_from_the_pages_of_another_project() {
    let mut window = samples::machine::window(&plainly);
    window.sessions = 40;
    let page = window.render(&samples::shell(&plainly));
    assert!(page.contains("href=\"/sessions/s-7f3a\""), "{page}");
    assert!(page.contains("3 of 40, the most expensive first; against what was paid"), "{page}");
    let page = samples::account::sessions(&plainly).render(&samples::wide_shell(&plainly));
    assert!(page.contains("href=\"/in/depot/sessions/s-91c0\""), "{page}");
}

#[test]
fn events_of_another_day_say_which() {
    let mut today = samples::account::today(&plainly);
    today.events = vec![event(days_ago(0), "a"), event(days_ago(1), "b"), event(days_ago(1), "c")];
    let page = today.render(&samples::wide_shell(&plainly));
    assert_eq!(page.matches("<li class=\"day\">").count(), 1, "{page}");
    assert!(page.contains("<li class=\"day\">16 Nov</li>"), "{page}");
    let mut session = samples::session::session(&plainly);
    session.from = days_ago(2);
    session.timeline.items = [2, 1, 0].map(|days| Item::Event(event(days_ago(days), "a"))).into();
    let page = session.render(&samples::shell(&plainly));
    let days: Vec<&str> = page.split("<li class=\"day\">").skip(1).filter_map(|rest| rest.split('<').next()).collect();
    assert_eq!(days, ["16 Nov", "today"]);
}

#[test]
fn what_was_held_back_and_is_not_listed_is_not_denied() {
    let mut today = samples::account::today(&plainly);
    today.held.clear();
    let page = today.render(&samples::wide_shell(&plainly));
    assert!(page.contains("The outputs are not listed.") && !page.contains("Nothing was held back."), "{page}");
    today.account = Some(Account::default());
    assert!(today.render(&samples::wide_shell(&plainly)).contains("Nothing was held back."));
}

#[test]
fn sessions_in_which_nothing_was_measured_show_what_they_cost() {
    let page = samples::account::imported(&plainly).render(&samples::wide_shell(&plainly));
    for shown in
        ["5 sessions, $63.06 spent in 3 whose cost is known.", "<code>weir replay</code>", ">Spent per day</h2>"]
    {
        assert!(page.contains(shown), "no {shown}:\n{page}");
    }
    assert!(!page.contains(">0.00</text>") && !page.contains("Net per day"), "{page}");
}

#[test]
fn a_loss_is_a_loss_in_every_sum() {
    let page = samples::account::today(&plainly).render(&samples::wide_shell(&plainly));
    // A day on which replacements were longer than what clients would have shown, and a tool of which they were.
    for shown in [">−310</td>", ">−1,690</td>", "in full 41,246, shown 6,470"] {
        assert!(page.contains(shown), "no {shown}:\n{page}");
    }
}

#[test]
fn a_search_that_finds_nothing_says_where_it_looked() {
    let mut search = samples::kept::search(&plainly);
    search.hits.clear();
    let filters = search.filters.clone();
    search.filters.kind = None;
    search.filters.from.clear();
    search.filters.since.clear();
    let page = search.render(&samples::wide_shell(&plainly));
    assert!(page.contains("<strong>Nothing that is kept has these words.</strong>"), "{page}");
    let page = search.render(&samples::shell(&plainly));
    assert!(page.contains("Nothing that is kept in harbour has these words."), "{page}");
    search.filters = Filters { kind: Some(HitKind::Note), ..filters };
    let page = search.render(&samples::shell(&plainly));
    assert!(page.contains("Nothing that the filters let through in harbour has these words."), "{page}");
}

#[test]
fn an_empty_text_is_empty_and_a_pattern_without_a_line_matches_nothing() {
    let mut entry = samples::kept::entry(&plainly);
    entry.text.clear();
    let page = entry.render(&samples::shell(&plainly));
    assert!(page.contains("No line matches."), "{page}");
    entry.asked_for = None;
    let page = entry.render(&samples::shell(&plainly));
    assert!(page.contains("The text is empty."), "{page}");
}

#[test]
fn a_session_that_cost_more_than_it_saved_does_not_say_saved() {
    let mut session = samples::session::session(&plainly);
    session.figures.net = Some(samples::cents(-18));
    let page = session.render(&samples::shell(&plainly));
    assert!(page.contains("<dt>Did not pay</dt>") && !page.contains("<dt>Saved</dt>"), "{page}");
}

#[test]
fn the_first_steps_tell_clients_that_are_set_up_from_none() {
    let check = |clients: &[&str], connected: &[&str], expected: &str| {
        let texts = |names: &[&str]| names.iter().map(|name| plainly(name)).collect::<Vec<_>>();
        let steps = samples::account::first_steps(&plainly);
        let steps = FirstSteps { clients: texts(clients), connected: texts(connected), ..steps };
        let page = steps.render(&samples::shell(&plainly));
        assert!(page.contains(expected), "no {expected}:\n{page}");
        assert_eq!(page.contains("weir setup"), connected.is_empty() || !clients.is_empty(), "{page}");
    };
    check(&[], &[], "<p>No client was found on this machine.</p>");
    check(&[], &["Codex"], "<p>Codex is set up already.</p>");
    check(&[], &["Claude Code", "Codex"], "<p>Claude Code and Codex are set up already.</p>");
    check(&["A", "B", "C"], &["D"], "<p>A, B and C were found on this machine. You see every line");
}
