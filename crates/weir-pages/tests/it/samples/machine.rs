//! Window, Prefix, Health and Settings.

use weir_pages::health::{Check, CheckState, Health, HookDay, HookTimes, LastHook, OutputRow, SeenOutputs, StoreDay};
use weir_pages::message::Message;
use weir_pages::pauses::{ChoiceRow, ColdPause, PauseGroup, PauseLength, Pauses};
use weir_pages::prefix::{Prefix, PrefixPart, ShorterPrefix, UnusedTools};
use weir_pages::settings::{FileState, Group, SetBy, Setting, Settings, SettingsFile};
use weir_pages::window::{ClientChoice, SessionCost, SettingPreview, SizeCost, Window};

use super::{Say, cents, days_ago};

pub(crate) fn window(say: Say<'_>) -> Window {
    let priced = |size: Option<u64>, reads: i64, compacting: i64, compactions: u64| SizeCost {
        size,
        reads: cents(reads),
        writes: cents(855),
        output: cents(482),
        compacting: cents(compacting),
        compactions,
    };
    let size = |size: u64, reads, compacting, compactions| priced(Some(size), reads, compacting, compactions);
    let session = |key: &str, title: &str, changes: [f64; 4]| SessionCost {
        key: say(key),
        title: say(title),
        project: say("harbour"),
        requests: 152,
        longest: 166_759,
        changes: changes.to_vec(),
        compactions: Some(4),
    };
    let client = |key: &str, name: &str, is_chosen: bool| ClientChoice { key: say(key), name: say(name), is_chosen };
    Window {
        clients: vec![client("claude-code", "Claude Code", true), client("codex", "Codex", false)],
        sessions: 3,
        span: Some((days_ago(13), days_ago(0))),
        now: Some(priced(None, 5_012, 190, 5)),
        sizes: vec![
            size(67_000, 2_726, 1_337, 36),
            size(80_000, 3_118, 862, 24),
            size(100_000, 3_560, 518, 14),
            size(120_000, 3_955, 452, 12),
            size(140_000, 4_358, 271, 7),
            size(167_000, 5_049, 201, 5),
        ],
        best: Some(80_000),
        recorded: say("They were compacted 5 times, at 149,200 to 167,100 tokens; the change is against that."),
        verdict: say("It is cheaper for 3 of 3 sessions, dearer for none."),
        price: say("at $5 per million input tokens"),
        by_session: vec![
            session("s-7f3a", "Retry uploads that time out", [-15.2, -21.0, -22.4, -15.1]),
            session("s-91c0", "Crash on a truncated frame", [-14.1, -14.0, -12.2, 4.2]),
            session("s-22e8", "Rename the tide table", [0.2, -10.0, -8.1, -3.3]),
        ],
        compared: vec![67_000, 80_000, 100_000, 120_000],
        setting: Some(SettingPreview {
            setting: say("\"autoCompactWindow\": 113000 in ~/.claude/settings.json"),
            command: say("weir setup claude --window 80000"),
            taken_back_by: say("weir teardown"),
        }),
        measured: say("Tokens of every request, from the transcripts. Length, growth and output are as they were."),
        assumed: say(
            "Each compaction costs a summary of 5,000 tokens, leaves 13,000 tokens besides what every request has, \
             and 8,000 tokens are read again in 5 requests (measured at 5 compactions).",
        ),
        not_known: say("Whether the model would have done the same work with less in view."),
    }
}

pub(crate) fn no_window(say: Say<'_>) -> Window {
    Window {
        clients: vec![],
        sessions: 0,
        span: None,
        now: None,
        sizes: vec![],
        best: None,
        by_session: vec![],
        compared: vec![],
        setting: None,
        ..window(say)
    }
}

pub(crate) fn pauses(say: Say<'_>) -> Pauses {
    let choice = |name: &str, cost: i64, saved: i64, changes: [f64; 4]| ChoiceRow {
        name: say(name),
        short: "cache",
        shortest: "c",
        cost: cents(cost),
        saved: cents(saved),
        changes,
        cheaper: 31,
        dearer: 9,
        is_now: saved == 0,
        is_best: saved > 400,
    };
    let length = |name: &'static str, count: u64, cost: i64| PauseLength {
        name,
        short: "5",
        count,
        tokens: 81_000 * count,
        cost: cents(cost),
    };
    let main = PauseGroup {
        is_subagents: false,
        sessions: 42,
        finding: say("57 pauses of more than 5 minutes left the cache cold (11 of them longer than an hour)."),
        lengths: vec![length("5–10 min", 31, 1_410), length("10–20 min", 15, 730), length("1–4 h", 11, 402)],
        choices: vec![
            choice("cache of 5 minutes", 9_210, 0, [0.0; 4]),
            choice("cache of 1 hour", 8_752, 458, [-5.0, -0.3, -4.2, 33.7]),
            choice("compacted before pauses", 9_402, -192, [2.1, 0.0, 1.1, 18.0]),
        ],
        verdict: say("A cache of 1 hour for the main conversation: −5.0 %, cheaper for 31 of 42 sessions."),
        setting: Some(SettingPreview {
            setting: say("\"promptCacheTtl\": \"1h\" in ~/.claude/settings.json"),
            command: say("weir setup claude --cache 1h"),
            taken_back_by: say("weir teardown claude"),
        }),
        costly: vec![ColdPause {
            key: say("s-7f3a"),
            title: say("Retry uploads that time out"),
            at: days_ago(3),
            seconds: 5_130,
            tokens: 141_220,
            cost: cents(88),
        }],
    };
    let subagents = PauseGroup { is_subagents: true, setting: None, costly: vec![], lengths: vec![], ..main.clone() };
    Pauses {
        clients: vec![],
        groups: vec![main, subagents],
        price: say("at the prices of 2026-08-08"),
        measured: say("When requests were answered, and what was written to the cache again."),
        assumed: say("A request reads from the cache what the request before it had."),
    }
}

pub(crate) fn no_pauses(say: Say<'_>) -> Pauses {
    Pauses { groups: vec![], ..pauses(say) }
}

pub(crate) fn prefix(say: Say<'_>) -> Prefix {
    let part = |kind: &str, name: &str, tokens: Option<u64>, monthly: i64, note: &str| PrefixPart {
        kind: say(kind),
        name: say(name),
        tokens,
        monthly: tokens.map(|_| cents(monthly)),
        note: say(note),
    };
    Prefix {
        clients: vec![
            ClientChoice { key: say("gemini"), name: say("Gemini CLI"), is_chosen: true },
            ClientChoice { key: say("claude"), name: say("Claude Code"), is_chosen: false },
        ],
        first: Some(32_400),
        sessions: 20,
        pace: say("It was repeated in 1,214 requests within 21 days."),
        deferral: say("It sends the descriptions of MCP tools in every request (tried with 0.61.0)."),
        parts: vec![
            part("MCP server", "notion", Some(17_163), 402, "24 tools, 2 called"),
            part("MCP server", "playwright", Some(3_764), 88, "25 tools, none called"),
            part("memory file", "GEMINI.md", Some(2_908), 41, ""),
            part("MCP server", "depot", None, 0, "not counted: it is disabled"),
            part("the rest", "", Some(8_565), 201, "system text, the client's own tools, and what Weir cannot see"),
        ],
        unused: vec![UnusedTools {
            server: say("playwright"),
            unused: 25,
            all: 25,
            tokens: 3_764,
            names: say("browser_click, browser_drag and 23 more"),
        }],
        advice: vec![
            ShorterPrefix {
                what: say("weir setup gemini --gateway notion"),
                why: say("2 of its 24 tools were called in 40 sessions"),
                tokens: 17_163,
                monthly: Some(cents(402)),
            },
            ShorterPrefix {
                what: say("shorten GEMINI.md"),
                why: say("it has 2,908 tokens, and Weir calls it long from 2,000"),
                tokens: 908,
                monthly: None,
            },
        ],
    }
}

pub(crate) fn no_prefix(say: Say<'_>) -> Prefix {
    Prefix {
        clients: vec![],
        first: None,
        sessions: 0,
        pace: say(""),
        deferral: say(""),
        parts: vec![],
        unused: vec![],
        advice: vec![],
    }
}

fn checks(say: Say<'_>) -> Vec<Check> {
    let check = |name: &str, state: CheckState, found: &str| Check {
        name: say(name),
        state,
        found: say(found).into(),
        advice: None,
        command: None,
    };
    vec![
        check("Weir", CheckState::Told, "0.1.0"),
        Check {
            advice: Some(say("Start Codex and choose Trust hooks. Only you can do that.").into()),
            command: Some(say("codex")),
            ..check(
                "Codex",
                CheckState::Wrong,
                "Set up, but 3 hooks are not trusted yet. Until they are, Codex does not call them: nothing is held back or carried over there.",
            )
        },
        Check {
            command: Some(say("chmod -R go= ~/.local/share/weir")),
            ..check("Data folder", CheckState::Wrong, "~/.local/share/weir can be read by other users of this machine.")
        },
        check("Claude Code", CheckState::Fine, "2.1.4, set up for the user"),
        check("Last hooks", CheckState::Fine, "Claude Code, PostToolUse at 12:24 in 2.4 ms (9,318 in all)"),
        check("Faults in hooks", CheckState::Fine, "none"),
        check("Sandbox", CheckState::Fine, "full"),
        check("Project store", CheckState::Fine, "1,612 entries, texts take 38.4 of 2,048 MiB"),
    ]
}

pub(crate) fn health(say: Say<'_>) -> Health {
    let hook = |client: &str, event: &str, millis: f64, calls: u64| LastHook {
        client: say(client),
        event: say(event),
        at: days_ago(0),
        millis,
        calls,
    };
    let times = [(2.0, 6.0), (2.0, 6.0), (3.0, 8.0), (0.0, 0.0), (0.0, 0.0), (2.0, 6.0), (3.0, 16.0)];
    let hook_day = |(at, (half_millis, most_millis)): (usize, (f64, f64))| HookDay {
        at: days_ago(13 - at as i64),
        times: (half_millis > 0.0).then_some(HookTimes { half_millis, most_millis, calls: 640 + at as u64 }),
    };
    let outcome = |outcome: &str, outputs: u64, bytes: u64| OutputRow { outcome: say(outcome), outputs, bytes };
    let sizes = [31.2, 31.9, 32.6, 32.6, 32.6, 33.4, 34.1, 35.2, 36.0, 36.2, 36.2, 36.2, 37.1, 38.4];
    Health {
        checks: checks(say),
        took: 84.0,
        hooks: vec![hook("Claude Code", "PostToolUse", 2.4, 9_318), hook("Codex", "Stop", 11.0, 640)],
        hook_days: times.into_iter().cycle().take(14).enumerate().map(hook_day).collect(),
        outputs: Some(SeenOutputs {
            since: days_ago(40),
            outcomes: vec![
                outcome("held back", 118, 9_400_000),
                outcome("small", 4_210, 1_310_000),
                outcome("asked for", 1_022, 6_750_000),
                outcome("not replaceable in the client", 77, 210_000),
            ],
        }),
        store: sizes
            .iter()
            .enumerate()
            .map(|(at, size)| StoreDay { at: days_ago(13 - at as i64), bytes: Some((size * 1_048_576.0) as u64) })
            .collect(),
        store_now: Some(52 << 20),
        store_limit: Some(2_048 << 20),
    }
}

pub(crate) fn unmeasured(say: Say<'_>) -> Health {
    Health {
        checks: vec![Check {
            name: say("Weir"),
            state: CheckState::Fine,
            found: say("0.1.0").into(),
            advice: None,
            command: None,
        }],
        took: 1_840.0,
        hooks: vec![],
        hook_days: vec![],
        outputs: None,
        store: vec![],
        store_now: None,
        store_limit: None,
    }
}

pub(crate) fn settings(say: Say<'_>) -> Settings {
    let setting = |name: &str, value: &str, about: &str, set_by: SetBy| Setting {
        name: say(name),
        value: say(value),
        about: say(about).into(),
        set_by,
    };
    Settings {
        files: vec![
            SettingsFile {
                path: say("~/.config/weir/config.toml"),
                about: say("yours: may set everything"),
                state: FileState::Read(2),
            },
            SettingsFile {
                path: say("~/src/harbour/.weir.toml"),
                about: say("the project’s: may restrict, never widen"),
                state: FileState::Read(1),
            },
            SettingsFile {
                path: say("/etc/weir/config.toml"), about: say("the machine’s"), state: FileState::Absent
            },
            SettingsFile {
                path: say("~/src/harbour/.weir.local.toml"),
                about: say("the project’s, not shared"),
                state: FileState::Unreadable(say("line 3: expected a value")),
            },
        ],
        groups: vec![
            Group {
                name: say("hooks"),
                settings: vec![
                    setting(
                        "hold-above",
                        "2000",
                        "The size in tokens above which an output is held back.",
                        SetBy::File { path: say("~/.config/weir/config.toml"), line: Some(4) },
                    ),
                    setting("guide-budget", "900", "The most tokens that a guide may have.", SetBy::Default),
                ],
            },
            Group {
                name: say("network"),
                settings: vec![setting(
                    "allow",
                    "[]",
                    "Hosts that runs may reach.",
                    SetBy::Variable(say("WEIR_ALLOW")),
                )],
            },
        ],
    }
}

pub(crate) fn nothing_set() -> Settings {
    Settings { files: vec![], groups: vec![] }
}

pub(crate) fn message(say: Say<'_>) -> Message {
    Message {
        title: say("This link was used before."),
        meaning: say("A link opens the pages once, so that nobody can open them with a copy of it. Ask for a new one."),
        command: Some(say("weir ui")),
    }
}
