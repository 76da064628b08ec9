//! Today, Sessions and Projects.

use weir_core::Origin;
use weir_pages::projects::{ProjectRow, Projects};
use weir_pages::session::{EventLine, Tone};
use weir_pages::sessions::{ClientCount, SessionRow, Sessions};
use weir_pages::today::{
    Account, BackgroundRun, CheaperWindow, Day, DayFigures, FirstSteps, HeldOutput, Today, ToolRow,
};

use super::{Say, ago, cents, days_ago};

type DayRow = (i64, u64, u64, i64, i64, u64);

/// Held back, asked again, Weir's own text, net in cents, spent in cents, sessions; the newest last.
const DAYS: [Option<DayRow>; 14] = [
    Some((7_912, 0, 260, 10, 488, 1)),
    Some((11_480, 2_204, 990, 12, 761, 2)),
    Some((5_940, 5_733, 1_011, -6, 702, 2)),
    None,
    None,
    Some((9_120, 0, 470, 15, 633, 1)),
    Some((15_870, 2_940, 1_187, 17, 914, 2)),
    Some((14_022, 1_760, 1_160, 18, 1_022, 2)),
    Some((-310, 0, 602, -17, 884, 2)),
    Some((3_655, 610, 318, 5, 402, 1)),
    None,
    None,
    Some((10_884, 1_180, 604, 20, 598, 1)),
    Some((29_776, 2_850, 1_296, 35, 1_004, 2)),
];

fn account(index: usize) -> Option<DayFigures> {
    DAYS[index].map(|(held, again, own, net, spent, sessions)| DayFigures {
        sessions,
        account: Account {
            output_tokens: 41_246,
            shown_tokens: 6_470,
            held_tokens: held,
            held_outputs: 5,
            again_tokens: again,
            again_answers: u64::from(again > 0) * 2,
            own_tokens: own,
            told: 2,
            answers: 3,
            net_tokens: held - (again + own).cast_signed(),
            net: Some(cents(net)),
        },
        spent: Some(cents(spent)),
    })
}

pub(crate) fn today(say: Say<'_>) -> Today {
    let day = |index: usize| Day { at: days_ago(13 - index as i64), figures: account(index) };
    Today {
        days: 1,
        spent: (cents(1_004), 5),
        account: account(13).map(|day| day.account),
        per_day: (0..14).map(day).collect(),
        exception: Some(say("Two days did not pay.")),
        remarks: vec![
            say("On 12 November only Codex was used, and every request carried 1,611 tokens of tool descriptions."),
            say("On 6 November the model asked again for nearly all that was held back."),
        ],
        window: Some(CheaperWindow {
            size: 80_000,
            now: Some(167_000),
            saved: Some(cents(1_214)),
            for_whom: say("cheaper for 6 of 7 sessions, dearer for 1 (the worst +4.0 %)"),
        }),
        held: held(say),
        events: events(say),
        session_count: 5,
        sessions: rows(say),
        tools: tools(say),
        background: vec![BackgroundRun {
            reference: say("v4n8s1kd0w"),
            command: say("cargo watch -x check"),
            started: ago(134),
        }],
    }
}

fn held(say: Say<'_>) -> Vec<HeldOutput> {
    let output = |reference: &str, title: &str, tool: &str, tokens: Option<u64>, bytes: u64| HeldOutput {
        reference: say(reference),
        title: say(title),
        is_code: title.contains(['.', '-']) && !title.starts_with("Backoff"),
        tool: say(tool),
        at: ago(90),
        tokens,
        is_estimated: bytes > 64 << 10,
        shown: tokens.map(|tokens| tokens / 9),
        again: tokens.map(|tokens| if tokens > 9_000 { 1_020 } else { 0 }),
        bytes,
    };
    vec![
        output("8d2kq0vm7c", "cargo nextest run --workspace", "command", Some(17_902), 62_880),
        output("w3n7c2hk5d", "crates/uploader/src/queue.rs", "file", Some(8_214), 28_700),
        output("e6p4s8yb1n", "Backoff and jitter", "page", Some(5_130), 19_050),
        output("m2h5d9xw3q", "cargo test --all-targets -- --nocapture", "command", None, 48_000_000),
    ]
}

fn events(say: Say<'_>) -> Vec<EventLine> {
    let event = |minutes: i64, kind: &str, origin: Origin, tone: Tone, text: &str| EventLine {
        at: ago(minutes),
        request: None,
        kind: say(kind),
        origin,
        tone,
        text: say(text),
        outcome: None,
        reference: None,
    };
    vec![
        event(6, "commit", Origin::Tool, Tone::Strong, "7be41d0 Retry uploads with the same key"),
        event(24, "compacted", Origin::Tool, Tone::Strong, "96,118 → 35,802 tokens, by the user"),
        event(38, "error", Origin::Tool, Tone::Bad, "queue.rs:118, fixed after 2 attempts"),
        event(77, "correction", Origin::User, Tone::User, "“Never more than four uploads at once.”"),
        event(102, "decision", Origin::Model, Tone::Plain, "Keep the key in the queue’s own table"),
        event(198, "prompt", Origin::User, Tone::User, "“An upload that times out must not be sent twice.”"),
    ]
}

fn rows(say: Say<'_>) -> Vec<SessionRow> {
    let row = |key: &str, title: &str, project: &str, net: Option<i64>| SessionRow {
        key: say(key),
        title: say(title),
        project_key: say(project),
        project: say(project),
        branch: Some(say("retry-key")),
        client: say("Claude Code"),
        started: ago(198),
        requests: Some(157),
        window_now: net.map(|_| 61_882),
        spent: net.map(|_| cents(884)),
        net_tokens: net.map(|net| net * 700),
        net: net.map(cents),
        remark: (net == Some(-1)).then(|| say("nothing was large enough to hold back")),
    };
    vec![
        row("s-7f3a", "Retry uploads that time out", "harbour", Some(36)),
        row("s-91c0", "Where are frames cut?", "depot", Some(-1)),
        row("s-22e8", "Rename the tide table", "tideline", None),
    ]
}

fn tools(say: Say<'_>) -> Vec<ToolRow> {
    let tool = |name: &str, held: u64, [output, given, shown]: [u64; 3]| {
        let name = say(name);
        ToolRow { name, held, output, given, shown }
    };
    vec![
        tool("Files", 5, [52_030, 52_030, 10_160]),
        tool("Pages", 2, [29_400, 29_400, 2_391]),
        tool("Commands", 18, [158_120, 12_120, 13_810]),
    ]
}

pub(crate) fn nothing_today() -> Today {
    Today {
        days: 1,
        spent: (cents(0), 0),
        account: Some(Account::default()),
        per_day: (0..14).map(|index| Day { at: days_ago(13 - index), figures: None }).collect(),
        exception: None,
        remarks: vec![],
        window: None,
        held: vec![],
        events: vec![],
        session_count: 0,
        sessions: vec![],
        tools: vec![],
        background: vec![],
    }
}

/// Returns the page after an import: sessions, and nothing that was measured.
pub(crate) fn imported(say: Say<'_>) -> Today {
    let mut today = today(say);
    (today.account, today.exception, today.window) = (None, None, None);
    today.spent = (cents(6_306), 3);
    today.remarks.clear();
    today.held.clear();
    today.tools.clear();
    let of_day = |day: &mut Day| {
        if let Some(figures) = &mut day.figures {
            figures.account = Account { net: Some(cents(0)), ..Account::default() };
        }
    };
    today.per_day.iter_mut().for_each(of_day);
    today
}

pub(crate) fn first_steps(say: Say<'_>) -> FirstSteps {
    FirstSteps {
        clients: vec![say("Claude Code"), say("Codex")],
        connected: vec![],
        earlier_sessions: Some(214),
        smallest_held: 2_000,
    }
}

pub(crate) fn sessions(say: Say<'_>) -> Sessions {
    let client = |key: &str, name: &str, sessions: u64| {
        let sessions = Some(sessions);
        ClientCount { key: say(key), name: say(name), sessions }
    };
    Sessions {
        rows: rows(say),
        total: Some(61),
        is_newest: false,
        older: Some(say("1794913800000~s-22e8~codex")),
        clients: vec![client("claude-code", "Claude Code", 48), client("codex", "Codex", 13)],
        client: None,
        remarks: vec![say("1 project that was not used lately is not in these figures.")],
    }
}

pub(crate) fn no_sessions() -> Sessions {
    Sessions {
        rows: vec![],
        total: Some(0),
        is_newest: true,
        older: None,
        clients: vec![],
        client: None,
        remarks: vec![],
    }
}

pub(crate) fn projects(say: Say<'_>) -> Projects {
    let project = |name: &str, folder: &str, is_there: bool, net: Option<i64>| ProjectRow {
        key: say(name),
        name: say(name),
        folder: say(folder),
        is_there,
        problem: (!is_there).then(|| say("log.db is damaged")),
        last: net.map(|_| ago(6)),
        sessions: Some(48),
        entries: is_there.then_some(1_588),
        notes: is_there.then_some(22),
        bytes: Some(39_740_000),
        spent: net.map(|_| cents(5_210)),
        net_tokens: net.map(|net| net * 900),
        net: net.map(cents),
    };
    Projects {
        rows: vec![
            project("harbour", "~/src/harbour", true, Some(98)),
            project("depot", "~/src/depot", true, Some(-12)),
            project("tideline", "~/old/tideline", false, None),
        ],
        days: 14,
    }
}

pub(crate) fn no_projects() -> Projects {
    Projects { rows: vec![], days: 14 }
}
