//! One session.

use weir_core::Origin;
use weir_pages::session::{
    Compaction, EventLine, Figures, Guide, GuideChoice, Item, Reflection, Session, Statement, Statements, Timeline,
    TimelineFilter, Tone, WindowCourse,
};
use weir_pages::words::{Standing, Words};

use super::{Say, ago, cents};

const GUIDE: &str = "\
What this session had before it was compacted:
Goal (user, 3 hours ago): \"An upload that times out must not be sent twice.\"
Standing instructions (user):
- \"Never more than four uploads at once.\"
Where it stood:
- in hand: the key is written before the first attempt; 2 of 5 call sites done
- failing: cargo nextest run retry: assertion failed: attempts == 1 (queue.rs:118)
- next (model): pass the key to Upload::resume
Decisions:
- model: keep the key in the queue's own table [ctx:5m1x8rqe0t]
Names at hand:
- crates/uploader/src/queue.rs: Queue::push, Queue::resume, Attempt
- crates/uploader/src/key.rs: UploadKey, UploadKey::of
References:
- [ctx:8d2kq0vm7c] tool: cargo nextest, 9 failed";

fn course(say: Say<'_>) -> WindowCourse {
    let mut lengths = Vec::new();
    let mut length = 26_000_u64;
    for request in 1..=157_u64 {
        length += 640 + (request * request * 7_919) % 1_860;
        lengths.push(length);
        match request {
            89 => length = 37_600,
            131 => length = 35_802,
            _ => {}
        }
    }
    let at = |request: usize| lengths[request - 1];
    let without = (17..=74).map(|request| {
        let more = match request {
            17 => 0,
            18..44 => 6_100,
            _ => 22_900,
        };
        (request, lengths[request as usize - 1] + more)
    });
    WindowCourse {
        without: without.collect(),
        limit: Some(167_000),
        compactions: vec![
            Compaction { request: 89, before: at(89), after: 37_600 },
            Compaction { request: 131, before: at(131), after: 35_802 },
        ],
        prompts: vec![1, 24, 47, 60, 83, 92, 118, 133, 150],
        errors: vec![9, 26, 44, 52, 71, 97, 108, 140],
        held: vec![18, 44, 61, 102, 140],
        remarks: vec![
            say("Without holding back, the first compaction would have come at request 75 instead of 89."),
            say("What would have followed is not known, so the dashed line ends there."),
        ],
        lengths,
    }
}

fn items(say: Say<'_>) -> Vec<Item> {
    let event = |request: u64, kind: &str, origin: Origin, tone: Tone, text: &str| EventLine {
        at: ago(198 - request as i64 * 192 / 157),
        request: Some(request),
        kind: say(kind),
        origin,
        tone,
        text: say(text),
        outcome: (tone == Tone::Bad).then(|| say("fixed at request 104, after 2 attempts")),
        reference: (tone == Tone::Strong).then(|| say("8d2kq0vm7c")),
    };
    vec![
        Item::Event(event(1, "prompt", Origin::User, Tone::User, "“An upload that times out must not be sent twice.”")),
        Item::Event(event(
            9,
            "error",
            Origin::Tool,
            Tone::Bad,
            "cargo nextest run retry: assertion failed: attempts == 1",
        )),
        Item::Event(event(
            18,
            "held back",
            Origin::Tool,
            Tone::Strong,
            "Read crates/uploader/src/queue.rs: 8,214 tokens as an outline of 2,108",
        )),
        Item::Event(event(31, "decision", Origin::Model, Tone::Plain, "Keep the key in the queue’s own table")),
        Item::Event(event(
            44,
            "held back",
            Origin::Tool,
            Tone::Strong,
            "cargo nextest run: 9 failed, 398 passed; 17,902 tokens as a digest of 988",
        )),
        Item::Event(event(60, "correction", Origin::User, Tone::User, "“Never more than four uploads at once.”")),
        Item::Compacted {
            at: ago(89),
            request: Some(89),
            tokens: Some((164_635, 37_600)),
            summary: Some(say("c0v9tk2m6h")),
        },
        Item::Event(event(102, "page", Origin::Web, Tone::Plain, "Backoff and jitter")),
        Item::Compacted { at: ago(40), request: None, tokens: None, summary: None },
        Item::Event(event(156, "commit", Origin::Tool, Tone::Strong, "7be41d0 Retry uploads with the same key")),
    ]
}

fn timeline(say: Say<'_>) -> Timeline {
    Timeline {
        items: items(say),
        filters: vec![
            (TimelineFilter::WhatMatters, 8),
            (TimelineFilter::Prompts, 9),
            (TimelineFilter::Errors, 8),
            (TimelineFilter::Files, 61),
            (TimelineFilter::Everything, 397),
        ],
        filter: TimelineFilter::WhatMatters,
        total: 397,
        is_cut: true,
        older: Some(4_711),
        is_newest: false,
    }
}

pub(crate) fn session(say: Say<'_>) -> Session {
    let state = |text: &str, origin: Origin, standing: Standing, reference: Option<&str>| Statement {
        text: say(text),
        words: Words { origin, standing },
        reference: reference.map(say),
    };
    let one_key = state("An upload has one key, however often it is sent", Origin::Model, Standing::Plain, None);
    let all = |shown: Vec<Statement>| Statements { shown, left_out: 0 };
    Session {
        key: say("s-7f3a"),
        title: say("Retry uploads that time out"),
        project: say("harbour"),
        client: say("Claude Code"),
        branch: Some(say("retry-key")),
        from: ago(198),
        to: ago(6),
        earlier: Some(say("s-6b10")),
        later: Some(say("s-91c0")),
        figures: Figures {
            requests: Some(157),
            window_now: Some(61_882),
            next_request: Some(cents(4)),
            spent: Some(cents(884)),
            net_tokens: Some(25_630),
            net: Some(cents(36)),
        },
        window: Some(course(say)),
        timeline: timeline(say),
        guides: vec![
            GuideChoice { after: Some(1), is_chosen: true },
            GuideChoice { after: Some(2), is_chosen: false },
            GuideChoice { after: None, is_chosen: false },
        ],
        guide: Some(Guide { text: say(GUIDE), tokens: 418, budget: 900, after: Some(1) }),
        reflection: Reflection {
            done: Statements { shown: vec![one_key], left_out: 3 },
            decided: all(vec![
                state(
                    "Keep the key in the queue’s own table",
                    Origin::Model,
                    Standing::Unconfirmed,
                    Some("5m1x8rqe0t"),
                ),
                state("Never more than four uploads at once", Origin::User, Standing::Plain, None),
            ]),
            failed: all(vec![state(
                "A unique index on the file’s hash: two files may be equal",
                Origin::Model,
                Standing::Plain,
                None,
            )]),
            open: Statements::default(),
        },
    }
}

pub(crate) fn bare(say: Say<'_>) -> Session {
    Session {
        key: say("s-0001"),
        title: say("Rename the tide table"),
        project: say("tideline"),
        client: say("Codex"),
        branch: None,
        from: ago(3_000),
        to: ago(5),
        earlier: None,
        later: None,
        figures: Figures::default(),
        window: None,
        timeline: Timeline {
            items: vec![],
            filters: vec![],
            filter: TimelineFilter::WhatMatters,
            total: 0,
            is_cut: false,
            older: None,
            is_newest: true,
        },
        guides: vec![],
        guide: None,
        reflection: Reflection::default(),
    }
}
