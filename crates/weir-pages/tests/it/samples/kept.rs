//! Search, an entry, and notes.

use weir_core::Origin;
use weir_pages::entry::{AskedAgain, DigestLine, EntryPage, Figures, Line, Piece, SessionLink};
use weir_pages::notes::{Counts, NoteCard, NoteFilter, Notes, Revision};
use weir_pages::search::{Excerpt, Filters, Hit, HitKind, Picked, Search, Target};
use weir_pages::words::{Badge, Mark, Span, Standing, Words};
use weir_pages::{Paging, Text};

use super::{Say, ago, days_ago};

fn span(text: Text, mark: Mark) -> Span {
    Span { text, mark }
}

fn hit(say: Say<'_>, kind: HitKind, title: &str, reference: &str) -> Hit {
    Hit {
        kind,
        title: say(title),
        is_code: false,
        target: Target::Entry(say(reference)),
        line: (kind == HitKind::Output).then_some(41),
        about: Some(say("decision, revision 3")),
        excerpt: Excerpt::Prose(vec![
            span(say("Four "), Mark::None),
            span(say("uploads"), Mark::Found),
            span(say(" at once: more starve the downloads."), Mark::None),
        ]),
        words: Words::of(Origin::User),
        at: days_ago(2),
        reach: Some(say("project")),
        badges: vec![],
        is_old: false,
        can_confirm: false,
    }
}

fn hits(say: Say<'_>) -> Vec<Hit> {
    let lines = vec![
        (41, vec![span(say("uploads: "), Mark::None), span(say("4"), Mark::Found)]),
        (42, vec![span(say("    timeout: 30s"), Mark::None)]),
    ];
    vec![
        Hit {
            badges: vec![Badge::Doubt(say("queue.rs has changed since"))],
            ..hit(say, HitKind::Note, "upload-limit", "zyjr7j9p4e")
        },
        Hit {
            target: Target::Session(say("s-7f3a")),
            about: Some(say("request 60 of Retry uploads that time out")),
            ..hit(say, HitKind::Event, "Correction", "")
        },
        Hit {
            is_code: true,
            excerpt: Excerpt::Lines(lines),
            words: Words::of(Origin::Tool),
            reach: Some(say("kept until 12 Dec")),
            about: Some(say("line 41")),
            ..hit(say, HitKind::Output, "harbour config show", "t9c3f7wz2k")
        },
        Hit {
            words: Words { origin: Origin::User, standing: Standing::ProjectFile },
            about: Some(say("Queue › Limits, line 88")),
            badges: vec![Badge::Doubt(say("the file is newer than the index"))],
            ..hit(say, HitKind::Document, "docs/uploads.md", "h4x0b6nq8s")
        },
        Hit {
            words: Words { origin: Origin::Model, standing: Standing::Unconfirmed },
            badges: vec![Badge::Plain(say("similar in meaning"))],
            can_confirm: true,
            ..hit(say, HitKind::Note, "slow-links", "q1r8v5je7m")
        },
        Hit {
            words: Words::of(Origin::Web),
            about: Some(say("docs.example.org")),
            ..hit(say, HitKind::Page, "Backoff and jitter", "d7k2y9gm4c")
        },
        Hit {
            target: Target::Gone(say("r5w1n3hd8b")),
            about: None,
            is_old: true,
            badges: vec![Badge::Plain(say("expired"))],
            words: Words::of(Origin::Tool),
            ..hit(say, HitKind::Output, "Output of a load test", "")
        },
    ]
}

pub(crate) fn search(say: Say<'_>) -> Search {
    let pick = |value: &str, label: &str| Picked { value: say(value), label: say(label), is_chosen: value.is_empty() };
    Search {
        query: say("how many uplods at once"), // typos: allow
        filters: Filters {
            kinds: vec![
                (HitKind::Note, Some(6)),
                (HitKind::Event, Some(4)),
                (HitKind::Output, Some(5)),
                (HitKind::Document, Some(3)),
                (HitKind::Page, Some(1)),
            ],
            kind: None,
            from: vec![pick("", "anyone"), pick("user", "the user"), pick("model", "the model")],
            within: vec![pick("", "harbour"), pick("all", "all projects")],
            since: vec![pick("", "any time"), pick("7", "7 days ago")],
        },
        hits: hits(say),
        pager: Paging { page: 1, size: 7, total: 19 },
        has_more: true,
        remarks: vec![say("2 other projects were not searched.")],
        took: Some(8.2),
        by_meaning: true,
        corrected: Some((say("uplods"), say("uploads"))), // typos: allow
    }
}

pub(crate) fn nothing_asked(say: Say<'_>) -> Search {
    Search {
        query: say(""),
        hits: vec![],
        pager: Paging { page: 1, size: 7, total: 0 },
        has_more: false,
        remarks: vec![],
        took: None,
        by_meaning: false,
        corrected: None,
        filters: Filters {
            kinds: vec![(HitKind::Note, None)],
            kind: None,
            from: vec![],
            within: vec![],
            since: vec![],
        },
    }
}

fn digest(say: Say<'_>) -> Vec<DigestLine> {
    let digest = |at: u64, text: &str| DigestLine::Line { at: Some(at), text: say(text) };
    vec![
        DigestLine::Headline(say(
            "exit 100 in 5870 ms; nextest: 9 failed, 398 passed; 931 lines, 61.4 KiB held as [ctx:8d2kq0vm7c]",
        )),
        DigestLine::Part(say("failures by cause: 2 causes, 9 tests")),
        digest(
            467,
            "queue::tests::a_retry_keeps_its_key ×8: crates/uploader/src/queue.rs:118: assertion `left == right` failed",
        ),
        DigestLine::Line { at: None, text: say("  left: 2\n right: 1") },
        digest(627, "key::tests::two_files_may_be_equal: crates/uploader/src/key.rs:40: UNIQUE constraint failed"),
        DigestLine::Part(say("run")),
        digest(931, "Summary [5.870s] 407 tests run: 398 passed, 9 failed, 2 skipped"),
    ]
}

fn text(say: Say<'_>) -> Vec<Piece> {
    let line = |number: u64, text: &str| Line {
        number,
        text: say(text),
        is_failure: text.contains("FAIL") || text.contains("panicked"),
    };
    let fold = |from: u64, to: u64, what: &str| Piece::Fold { from, to, what: Some(say(what)), lines: vec![] };
    vec![
        Piece::Line(line(1, "   Compiling uploader v0.4.1 (/srv/harbour/crates/uploader)")),
        Piece::Line(line(2, "    Finished `test` profile [unoptimized + debuginfo] target(s) in 4.12s")),
        Piece::Line(line(3, "        FAIL [   0.012s] uploader queue::tests::a_retry_keeps_its_key")),
        Piece::Fold {
            from: 4,
            to: 6,
            what: Some(say("3 tests that passed")),
            lines: vec![
                line(4, "        PASS [   0.004s] uploader key::tests::a_key_is_short"),
                line(5, "        PASS [   0.004s] uploader key::tests::a_key_is_stable"),
                line(6, "        PASS [   0.005s] uploader queue::tests::it_is_empty"),
            ],
        },
        fold(7, 466, "395 tests that passed, 8 that failed"),
        Piece::Line(line(
            467,
            "thread 'queue::tests::a_retry_keeps_its_key' panicked at crates/uploader/src/queue.rs:118:9:",
        )),
        Piece::Line(line(
            468,
            "assertion `left == right` failed: an upload that times out must not be sent twice, whatever the server has said until then",
        )),
        Piece::Line(line(469, "  left: 2")),
        Piece::Line(line(470, " right: 1")),
        fold(471, 930, "the same failure in 7 more tests"),
        Piece::Line(line(931, "     Summary [   5.870s] 407 tests run: 398 passed, 9 failed, 2 skipped")),
    ]
}

pub(crate) fn entry(say: Say<'_>) -> EntryPage {
    EntryPage {
        reference: say("8d2kq0vm7c"),
        title: say("cargo nextest run --workspace"),
        is_code: true,
        words: Words::of(Origin::Tool),
        source: Some(say("Bash")),
        at: ago(90),
        expires: Some(days_ago(-30)),
        is_pinned: false,
        badges: vec![Badge::Bad(say("exit 100"))],
        session: Some(SessionLink { key: say("s-7f3a"), title: say("Retry uploads that time out"), request: Some(44) }),
        figures: Some(Figures {
            tokens: Some(17_902),
            digest_tokens: Some(988),
            lines: Some(931),
            bytes: 62_880,
            redactions: 1,
        }),
        digest: digest(say),
        text: text(say),
        asked_for: Some(say("467-498")),
        again: Some(vec![
            AskedAgain { lines: Some((467, 498)), request: Some(45), tokens: 1_020 },
            AskedAgain { lines: Some((931, 931)), request: Some(46), tokens: 30 },
            AskedAgain { lines: None, request: None, tokens: 1_900 },
        ]),
        remarks: vec![say("Lines of more than 2,000 characters are cut; Raw text has all of them.")],
        gone: None,
    }
}

pub(crate) fn gone(say: Say<'_>) -> EntryPage {
    let words = Words::of(Origin::Web);
    EntryPage {
        title: say("Backoff and jitter"),
        is_code: false,
        words,
        expires: None,
        badges: vec![Badge::Plain(say("expired"))],
        session: None,
        figures: None,
        digest: vec![],
        text: vec![],
        asked_for: None,
        again: None,
        remarks: vec![],
        gone: Some(say("It expired on 3 November: pages are kept for 90 days unless a note cites them.")),
        source: None,
        ..entry(&super::plainly)
    }
}

fn note(say: Say<'_>, topic: &str, text: &str) -> NoteCard {
    NoteCard {
        reference: say("zyjr7j9p4e"),
        topic: Some(say(topic)),
        kind: say("decision"),
        revision: 3,
        at: days_ago(2),
        read: Some(6),
        text: say(text),
        is_whole: true,
        words: Words::of(Origin::User),
        reach: say("project"),
        files: vec![say("crates/uploader/src/queue.rs")],
        doubts: vec![],
        revisions: vec![],
        is_superseded: false,
    }
}

fn doubtful(say: Say<'_>) -> NoteCard {
    let revision = |number: u64, text: &str, mark: Mark| Revision {
        number,
        at: days_ago(60 - 20 * number as i64),
        words: Words { origin: Origin::Model, standing: Standing::Confirmed },
        reference: say("k7f2m9q4xz"),
        text: vec![span(say(text), mark), span(say(" uploads at once."), Mark::None)],
        is_superseded: number < 3,
    };
    NoteCard {
        doubts: vec![
            Badge::Doubt(say("queue.rs has changed since")),
            Badge::Doubt(say("its commit is not checked out")),
            Badge::Doubt(say("docs/uploads.md is gone")),
        ],
        revisions: vec![
            revision(3, "Four", Mark::Added),
            revision(2, "Eight", Mark::Removed),
            revision(1, "Any number of", Mark::None),
        ],
        ..note(say, "upload-limit", "Four uploads at once: more starve the downloads.")
    }
}

pub(crate) fn notes(say: Say<'_>) -> Notes {
    Notes {
        counts: Counts { topics: 21, doubtful: 1, unconfirmed: 1, current: 20, superseded: 9, never_read: 0 },
        looked_at: Some(2_000),
        remarks: vec![say("1 project that was not used lately is not in these figures.")],
        filter: NoteFilter::All,
        doubtful: vec![doubtful(say)],
        unconfirmed: vec![NoteCard {
            words: Words { origin: Origin::Model, standing: Standing::Unconfirmed },
            read: Some(1),
            files: vec![],
            ..note(say, "slow-links", "A link below 1 Mbit/s needs a timeout of two minutes.")
        }],
        current: vec![
            note(say, "upload-key", "The key is written before the first attempt."),
            NoteCard { topic: None, read: None, is_whole: false, ..note(say, "", "Test names are sentences.") },
        ],
        superseded: vec![NoteCard {
            is_superseded: true,
            read: Some(0),
            ..note(say, "old-limit", "Any number of uploads at once.")
        }],
        never_read: vec![],
        is_first: true,
        next: Some(say("2~1794913800000~k7f2m9q4xz")),
    }
}

pub(crate) fn no_notes() -> Notes {
    Notes {
        counts: Counts::default(),
        looked_at: None,
        remarks: vec![],
        filter: NoteFilter::Review,
        doubtful: vec![],
        unconfirmed: vec![],
        current: vec![],
        superseded: vec![],
        never_read: vec![],
        is_first: true,
        next: None,
    }
}
