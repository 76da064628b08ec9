//! Says in plain words what setup does, before it asks.

use weir_clients::setup::Recipe;
use weir_core::wording::counted;

use super::plan::SetupPlan;

/// What setup says before it asks.
pub(super) struct Explanation<'a> {
    /// The clients to be set up.
    pub recipes: &'a [&'static Recipe],
    /// The folder of the data, as a person writes it.
    pub data: String,
    /// The number of transcripts of past sessions.
    pub transcripts: usize,
}

impl Explanation<'_> {
    /// Returns five lines, and an offer to look at past sessions first.
    pub(super) fn text(&self) -> String {
        let has_hooks = self.recipes.iter().any(|recipe| recipe.has_hooks());
        let (called, often, changes) = match has_hooks {
            true => (
                "clients start `weir mcp` with each session, and hooks of Weir before and after tool calls, at your \
                 requests, and when a session starts, compacts or ends",
                "a few times per tool call, for some milliseconds each; nothing runs between sessions",
                "the model gets a long output as a digest with a reference to all of it; a command that runs without \
                 asking you may get a line before it that stores its output, and does what it did. `weir:off` in a \
                 command or WEIR_OFF=1 turns that off",
            ),
            false => (
                "clients start `weir mcp` with each session",
                "once per session; nothing runs between sessions",
                "nothing: these clients only get more tools",
            ),
        };
        let data = &self.data;
        let mut lines = vec![
            format!("called   {called}"),
            format!("often    {often}"),
            format!(
                "stored   requests, tool output and events in {data}, after secrets that Weir recognises are removed; by \
                 default, nothing is sent anywhere"
            ),
            format!("changes  {changes}"),
            "undo     `weir teardown` restores every file; `weir uninstall --purge` also removes what is stored"
                .to_owned(),
        ];
        if self.transcripts > 0 {
            lines.push(format!(
                "\nfirst, if you like: `weir replay` shows what Weir would have done in your past sessions \
                 ({} found); it writes nothing",
                counted(self.transcripts, "transcript", "transcripts")
            ));
        }
        lines.join("\n")
    }
}

/// Lists the files that would be written, with the clients that they belong to.
pub(super) fn files(plan: &SetupPlan) -> String {
    let lines = plan.steps.iter().map(|step| {
        let clients: Vec<&str> = step.recipes.iter().map(|recipe| recipe.title).collect();
        format!("  {} {} ({})", step.verb(), step.name, clients.join(", "))
    });
    lines.collect::<Vec<_>>().join("\n")
}
