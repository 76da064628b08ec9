//! Says in plain words what setup does, before it asks.

use weir_clients::setup::Recipe;
use weir_core::wording::counted;

use super::plan::SetupPlan;

/// The width of the explanation, in columns: what every terminal has.
const MAX_COLUMNS: usize = 80;
/// The width of the labels, in columns.
const LABEL_COLUMNS: usize = 11;

/// What setup says before it asks.
pub(super) struct Explanation<'a> {
    /// The clients to be set up.
    pub recipes: &'a [&'static Recipe],
    /// The folder of the data, as a person writes it.
    pub data: String,
    pub transcripts: usize,
}

impl Explanation<'_> {
    /// Returns five points, and an offer to look at past sessions first.
    pub(super) fn text(&self) -> String {
        let has_hooks = self.recipes.iter().any(|recipe| recipe.has_hooks());
        let (runs, often, changes) = match has_hooks {
            true => (
                "clients start `weir mcp` with each session, and run Weir's hooks before and after tool calls, when \
                 you send a request, and when a session starts, compacts or ends",
                "a few times per tool call, for a few milliseconds each; nothing runs between sessions",
                "the model gets long output as a digest with a reference to the full text; if a command runs without \
                 asking you, Weir may put a line before it that stores its output, and the command still does the \
                 same; `weir:off` in a command or `weir off` in a project turns that off",
            ),
            false => (
                "clients start `weir mcp` with each session",
                "once per session; nothing runs between sessions",
                "nothing else: these clients only get additional tools",
            ),
        };
        let data = &self.data;
        let stored = format!(
            "requests, tool output and events in {data}, after secrets that Weir recognises are removed; by default, \
             nothing is sent anywhere"
        );
        let undo = "`weir teardown` restores every file; `weir uninstall --purge` also removes what is stored";
        let mut lines = vec![
            point("runs", runs),
            point("how often", often),
            point("stored", &stored),
            point("changes", changes),
            point("undo", undo),
        ];
        if self.transcripts > 0 {
            lines.push(format!(
                "\ntry this first: `weir replay` shows what Weir would have done in your past\n\
                 sessions ({} found) and writes nothing",
                counted(self.transcripts, "transcript", "transcripts")
            ));
        }
        lines.join("\n")
    }
}

/// Returns a point with its text in a column beside the label.
fn point(label: &str, text: &str) -> String {
    let (mut shown, mut columns) = (format!("{label:<LABEL_COLUMNS$}"), LABEL_COLUMNS);
    for (number, word) in text.split(' ').enumerate() {
        let wide = word.chars().count();
        if number > 0 && columns + 1 + wide > MAX_COLUMNS {
            shown.push('\n');
            shown.push_str(&" ".repeat(LABEL_COLUMNS));
            columns = LABEL_COLUMNS;
        } else if number > 0 {
            shown.push(' ');
            columns += 1;
        }
        shown.push_str(word);
        columns += wide;
    }
    shown
}

/// Lists the files that would be written, with the clients that they belong to, and the servers that would move.
pub(super) fn files(plan: &SetupPlan) -> String {
    let lines = plan.steps.iter().map(|step| {
        let clients: Vec<&str> = step.recipes.iter().map(|recipe| recipe.title).collect();
        format!("  {} ({})", step.planned(), clients.join(", "))
    });
    lines.chain(plan.moves.iter().map(|line| format!("  {line}"))).collect::<Vec<_>>().join("\n")
}
