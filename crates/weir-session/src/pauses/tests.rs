//! Sessions with pauses, and what they cost.

use serde_json::{Value, json};
use weir_clients::transcript;

use super::*;
use crate::replay::prices::Prices;

/// An answer at a minute, with what was written to the cache and read from it.
fn answer(minute: u64, written: u64, read: u64) -> Value {
    answer_that(minute, written, read, &json!([{ "type": "text", "text": "on" }]))
}

fn answer_that(minute: u64, written: u64, read: u64, content: &Value) -> Value {
    let usage =
        json!({ "cache_creation_input_tokens": written, "cache_read_input_tokens": read, "output_tokens": 100 });
    let message = json!({ "id": format!("m{minute}"), "model": "claude-opus-4-5", "content": content, "usage": usage });
    let at = format!("2026-11-18T{:02}:{:02}:00.000Z", minute / 60, minute % 60);
    json!({ "type": "assistant", "sessionId": "s", "cwd": "/srv/app", "timestamp": at, "message": message })
}

fn course(rows: &[Value]) -> CacheCourse {
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let read = transcript::read(&mut text.as_bytes()).unwrap().unwrap();
    let rates = Prices::read(None).unwrap().of("claude-opus-4-5");
    CacheCourse::of(&read.sessions[0], "s", rates).unwrap()
}

/// A session with a pause of so many minutes in the middle.
fn paused(minutes: u64) -> CacheCourse {
    let (late, warm) = (6 + minutes, minutes <= 5);
    let (written, read) = if warm { (1_000, 104_000) } else { (105_000, 0) };
    course(&[
        answer(1, 100_000, 0),
        answer(2, 1_000, 100_000),
        answer(3, 1_000, 101_000),
        answer(4, 1_000, 102_000),
        answer(6, 1_000, 103_000),
        answer(late, written, read),
    ])
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1.0, "{found} is not {expected}");
}

/// The first request writes 0.6 of its tokens, and all six write 100 tokens each.
const BEGINNING: f64 = 100_000.0 * (0.6 * 1.25 + 0.4 * 0.1) + 6.0 * 100.0 * 5.0;

#[test]
fn a_cache_that_stays_warm_costs_what_is_new_and_a_read_of_the_rest() {
    let reads: f64 = [100, 101, 102, 103, 104].map(|thousands| f64::from(thousands) * 1_000.0 * 0.1).iter().sum();
    close(paused(4).at(Lifetime::Minutes), BEGINNING + reads + 5.0 * 1_000.0 * 1.25);
    assert!(paused(4).cold_returns().is_empty());
    // Everything that is written costs more with a cache for an hour, and nothing is gained without a pause.
    let dearer = (2.0 - 1.25) * (60_000.0 + 5_000.0);
    close(paused(4).at(Lifetime::Hour) - paused(4).at(Lifetime::Minutes), dearer);
}

#[test]
fn after_a_pause_the_whole_conversation_is_written_again() {
    let (short, long) = (paused(4), paused(20));
    close(long.at(Lifetime::Minutes) - short.at(Lifetime::Minutes), 104_000.0 * (1.25 - 0.1));
    close(long.at(Lifetime::Hour), short.at(Lifetime::Hour));
    close(paused(61).at(Lifetime::Hour) - short.at(Lifetime::Hour), 104_000.0 * (2.0 - 0.1));
    let returns = long.cold_returns();
    assert_eq!(returns.iter().map(|pause| (pause.seconds, pause.tokens)).collect::<Vec<_>>(), [(1_200.0, 104_000)]);
    close(returns[0].cost, 104_000.0 * (1.25 - 0.1));
}

#[test]
fn a_session_without_times_has_no_pauses() {
    let mut row = answer(1, 100_000, 0);
    row["timestamp"] = Value::Null;
    let text = row.to_string();
    let read = transcript::read(&mut text.as_bytes()).unwrap().unwrap();
    let rates = Prices::read(None).unwrap().of("claude-opus-4-5");
    assert!(CacheCourse::of(&read.sessions[0], "s", rates).is_none());
}

#[test]
fn clearing_frees_old_results_and_charges_for_those_that_were_needed() {
    let result = |key: usize, text: &str| {
        let content = json!([{ "type": "tool_result", "tool_use_id": format!("t{key}"), "content": text }]);
        json!({ "type": "user", "sessionId": "s", "message": { "role": "user", "content": content } })
    };
    let call = |minute: u64, said: &str| {
        let input = json!({ "command": said });
        let content = json!([{ "type": "tool_use", "id": format!("t{minute}"), "name": "Bash", "input": input }]);
        answer_that(minute, 1_000, 100_000, &content)
    };
    // Ten results of 1,000 tokens, each with a name of its own. Two of them are older than the newest eight.
    let rows = |last: &str| -> Vec<Value> {
        let mut rows = vec![answer(0, 100_000, 0)];
        for minute in 1..=10 {
            let text = format!("{} only_in_{minute}", "word ".repeat(720));
            rows.extend([call(minute, "ls"), result(usize::try_from(minute).unwrap(), &text)]);
        }
        rows.extend([answer(40, 101_000, 0), call(41, last), answer(42, 1_000, 101_000)]);
        rows
    };
    let [unused, used] = ["true", "cat only_in_2"].map(|last| course(&rows(last)));
    let freed = 2.0 * (3_600.0 + 10.0 + 1.0) / 3.6 - 2.0 * 30.0;
    let saved = unused.at(Lifetime::Minutes) - unused.cleared(Lifetime::Minutes);
    // Less is written after the pause, and less is read by the two requests after it.
    assert!((saved - freed * (1.25 + 2.0 * 0.1)).abs() < 5.0, "{saved} is not about {}", freed * 1.45);
    let asked_again = 101_000.0 * 0.1 + 150.0 * 5.0;
    let lost = used.cleared(Lifetime::Minutes) - unused.cleared(Lifetime::Minutes);
    assert!(lost > asked_again && lost < asked_again + 3_000.0, "{lost}");
    assert!(
        (unused.cleared(Lifetime::Hour) - unused.at(Lifetime::Hour)).abs() < 1.0,
        "30 minutes are not a pause then"
    );
}

fn study_of<'a>(courses: &'a [CacheCourse], set: LifetimesSet) -> CacheStudy<'a> {
    studies(courses, |_| set, |_| None).remove(0)
}

#[test]
fn another_lifetime_is_recommended_only_where_it_pays() {
    let of = |minutes: u64| (0..6).map(|_| paused(minutes)).collect::<Vec<_>>();
    let (long, short) = (of(20), of(4));
    let best = |courses: &[CacheCourse], set: Option<Lifetime>| study_of(courses, [set, None]).groups[0].best;
    assert_eq!(best(&long, None), Some(Lifetime::Hour));
    assert_eq!(best(&long, Some(Lifetime::Hour)), None, "it is set already");
    assert_eq!(best(&short, None), None);
    assert_eq!(best(&short, Some(Lifetime::Hour)), Some(Lifetime::Minutes));
    assert_eq!(best(&long[..4], None), None, "four sessions are too few");
    let study = study_of(&long, [None; 2]);
    let text = text(&study).join("\n");
    for part in [
        "6 pauses of more than 5 minutes left the cache cold (0 of them longer than an hour). 624,000 tokens were written",
        "weir setup claude --cache 1h\n      writes \"promptCacheTtl\": \"1h\" in ~/.claude/settings.json",
    ] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
}
