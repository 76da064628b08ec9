//! The largest numbers and the strangest times: no page panics, and none shows a number that is not one.

use weir_core::Timestamp;
use weir_pages::entry::{AskedAgain, Piece};
use weir_pages::health::HookTimes;
use weir_pages::today::Account;
use weir_pages::{Moment, Money, Paging, Shell};

use crate::samples::{self, plainly};

fn check(html: &str) {
    for wrong in ["NaN", "inf %", "inf\"", "=\"-"] {
        let found = html.find(wrong).map(|at| html[at.saturating_sub(60)..].chars().take(120).collect::<String>());
        assert!(
            !found.as_ref().is_some_and(|found| !found.contains("dx=\"-") && !found.contains("tabindex=\"-1")),
            "{wrong}: {found:?}"
        );
    }
}

fn shell() -> Shell {
    let never = Moment { at: Timestamp(i64::MIN), offset_seconds: i32::MIN };
    Shell { now: never, notes_to_review: Some(u64::MAX), failing_checks: Some(u64::MAX), ..samples::shell(&plainly) }
}

#[test]
fn an_account_of_the_largest_numbers() {
    for net in [Some(Money(i64::MIN)), Some(Money(i64::MAX)), Some(Money(0)), None] {
        let most = u64::MAX;
        let account = Account {
            output_tokens: most,
            shown_tokens: most,
            held_tokens: i64::MIN,
            held_outputs: most,
            again_tokens: most,
            again_answers: most,
            own_tokens: most,
            told: most,
            answers: most,
            net_tokens: i64::MIN,
            net,
        };
        let mut today = samples::account::today(&plainly);
        today.account = Some(account);
        today.spent = (net.unwrap_or(Money(0)), most);
        for day in &mut today.per_day {
            if let Some(figures) = &mut day.figures {
                figures.account = account;
                figures.spent = net;
            }
        }
        today
            .tools
            .iter_mut()
            .for_each(|tool| (tool.held, tool.output, tool.given, tool.shown) = (most, most, 0, most));
        check(&today.render(&shell()));
    }
}

#[test]
fn a_session_of_the_longest_window_and_of_one_request() {
    let mut session = samples::session::session(&plainly);
    let window = session.window.as_mut().unwrap();
    window.lengths.fill(u64::MAX);
    window.compactions.iter_mut().for_each(|compaction| compaction.request = u64::MAX);
    window.held = vec![0, u64::MAX];
    session.to = Moment { at: Timestamp(i64::MIN), offset_seconds: 0 };
    check(&session.render(&shell()));
    let window = session.window.as_mut().unwrap();
    window.lengths = vec![0];
    window.limit = None;
    window.without.clear();
    check(&session.render(&shell()));
}

#[test]
fn an_entry_with_the_last_line() {
    let mut entry = samples::kept::entry(&plainly);
    let figures = entry.figures.as_mut().unwrap();
    figures.bytes = u64::MAX;
    figures.tokens = Some(0);
    let asked = |from, to| AskedAgain { lines: Some((from, to)), request: None, tokens: u64::MAX };
    entry.again = Some(vec![asked(0, u64::MAX), asked(9, 3)]);
    entry.text.push(Piece::Fold { from: 0, to: u64::MAX, what: None, lines: vec![] });
    check(&entry.render(&shell()));
}

#[test]
fn a_window_that_costs_everything_or_nothing() {
    for money in [i64::MAX, 0, i64::MIN] {
        let mut window = samples::machine::window(&plainly);
        for cost in window.sizes.iter_mut().chain(&mut window.now) {
            (cost.reads, cost.writes, cost.compactions) = (Money(money), Money(money), u64::MAX);
        }
        window.by_session.iter_mut().for_each(|session| session.changes = vec![f64::NAN, f64::INFINITY]);
        check(&window.render(&shell()));
    }
}

#[test]
fn a_list_of_pages_that_do_not_exist() {
    for (page, size, total) in [(u64::MAX, 0, u64::MAX), (0, 10, 0), (9, 10, 11)] {
        let mut search = samples::kept::search(&plainly);
        search.pager = Paging { page, size, total };
        check(&search.render(&shell()));
    }
    let mut notes = samples::kept::notes(&plainly);
    notes.counts.doubtful = u64::MAX;
    check(&notes.render(&shell()));
}

#[test]
fn hooks_that_took_no_time_or_all_of_it() {
    for millis in [0.0, 0.5, 9_223_372_036_854_775.0] {
        let mut health = samples::machine::health(&plainly);
        for day in &mut health.hook_days {
            let times = HookTimes { half_millis: 0.0, most_millis: millis, calls: u64::MAX };
            day.times = Some(times);
        }
        let outputs = health.outputs.as_mut().unwrap();
        outputs.outcomes.iter_mut().for_each(|row| (row.outputs, row.bytes) = (u64::MAX, u64::MAX));
        check(&health.render(&shell()));
    }
}
