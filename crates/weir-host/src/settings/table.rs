//! The settings, each with what it does and how its value reads. `docs/configuration.md` explains them.

use weir_fetch::endpoint::shown_address;

use crate::config::{Config, EmbeddingModel, LayerUse, ListedTools, Network, Sandbox};

/// A setting of the configuration.
pub struct Setting {
    /// The table of the file; empty for the top.
    pub table: &'static str,
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Returns its value, as the file would have it.
    pub value: fn(&Config) -> String,
}

impl Setting {
    /// Returns the name with the table.
    pub fn key(&self) -> String {
        if self.table.is_empty() { self.name.to_owned() } else { format!("{}.{}", self.table, self.name) }
    }
}

const fn setting(
    table: &'static str,
    name: &'static str,
    about: &'static str,
    value: fn(&Config) -> String,
) -> Setting {
    Setting { table, name, about, value }
}

/// Every setting, in the order of the documents.
pub const SETTINGS: &[Setting] = &[
    setting("", "sandbox", "Whether a run must have a full sandbox.", |config| sandbox(config.sandbox)),
    setting("", "network", "What runs may reach.", |config| network(config.network)),
    setting("run", "timeout_seconds", "The time limit of a model's run that sets none.", |config| {
        config.run.timeout.as_secs().to_string()
    }),
    setting("run", "output_mb", "How much a run may print before it is stopped.", |config| {
        megabytes(config.run.output_bytes)
    }),
    setting("run", "memory_mb", "How much memory the processes of a run may use.", |config| {
        config.run.memory_bytes.map_or_else(|| "three quarters of the machine's".to_owned(), megabytes)
    }),
    setting("run", "layer", "When what a run writes is checked before it is live.", |config| layer(config.run.layer)),
    setting("run", "hosts", "Hosts that runs may reach with network = \"allow-list\".", |config| {
        list(&config.run.hosts)
    }),
    setting("run", "writable", "Folders that runs may change besides the project.", |config| {
        list(&config.run.writable)
    }),
    setting("run", "readable", "What runs may read in the home folder besides toolchains.", |config| {
        list(&config.run.readable)
    }),
    setting("run", "environment", "Environment variables that runs get besides the usual ones.", |config| {
        list(&config.run.environment)
    }),
    setting("run", "brokered", "Programs that run outside the sandbox on behalf of a run.", |config| {
        list(&config.run.brokered)
    }),
    setting("fetch", "allow", "Private hosts that pages may be fetched from.", |config| list(&config.fetch.allow)),
    setting("fetch", "timeout_seconds", "The time limit for one page.", |config| {
        config.fetch.timeout.as_secs().to_string()
    }),
    setting("fetch", "size_mb", "How much of a page is read.", |config| megabytes(config.fetch.bytes)),
    setting("fetch", "ttl_hours", "How long a page is used without asking the server again.", |config| {
        (config.fetch.ttl.as_secs() / 3_600).to_string()
    }),
    setting("policy", "deny", "What is forbidden.", |config| list(&config.policy.deny)),
    setting("policy", "ask", "What needs your consent.", |config| list(&config.policy.ask)),
    setting("policy", "allow", "What is allowed.", |config| list(&config.policy.allow)),
    setting(
        "hold",
        "asked_tokens",
        "Up to this many tokens, an output that was asked for is shown in full.",
        |config| config.hold.asked_tokens.to_string(),
    ),
    setting("hold", "by_product_tokens", "The same for builds, tests, installs and listings.", |config| {
        config.hold.by_product_tokens.to_string()
    }),
    setting("hold", "flood_tokens", "The same for pages and results of MCP tools.", |config| {
        config.hold.flood_tokens.to_string()
    }),
    setting("hold", "unclear_tokens", "The same for all other commands.", |config| {
        config.hold.unclear_tokens.to_string()
    }),
    setting("hold", "repeats", "Whether to leave out lines that the conversation has already seen.", |config| {
        config.hold.repeats.to_string()
    }),
    setting("hold", "off", "Tools and commands whose output is left alone.", |config| list(&config.hold.off)),
    setting("hold", "off_folders", "Folders in which Weir is off.", |config| {
        let folders = config.hold.off_folders.iter().map(|folder| folder.display().to_string());
        list(&folders.collect::<Vec<_>>())
    }),
    setting("tools", "list", "The tools that clients see.", |config| match &config.tools {
        ListedTools::Core => "\"core\"".to_owned(),
        ListedTools::All => "\"all\"".to_owned(),
        ListedTools::Named(names) => list(names),
    }),
    setting("guide", "tokens", "Maximum number of tokens in a guide.", |config| config.guide_tokens.to_string()),
    setting("stats", "hold_out", "The share of sessions that hooks leave untouched.", |config| {
        config.hold_out.to_string()
    }),
    setting("search", "model", "The model for search by meaning.", |config| model(&config.embedding_model)),
    setting("search", "endpoint", "The server of that model.", |config| match &config.embedding_model {
        EmbeddingModel::Endpoint { url, .. } => format!("{:?}", shown_address(url)),
        _ => "none".to_owned(),
    }),
    setting("search", "key_file", "The file with the key of that server.", |config| match &config.embedding_model {
        EmbeddingModel::Endpoint { key_file: Some(_), .. } => "set, not shown".to_owned(),
        _ => "none".to_owned(),
    }),
    setting("team", "from", "The users whose notes `weir sync` accepts.", |config| {
        config.team.from.as_deref().map_or_else(|| "everybody".to_owned(), list)
    }),
    setting("retention", "run_days", "How long outputs of runs are kept.", |config| config.limits.run_days.to_string()),
    setting("retention", "page_days", "How long pages and held-back files are kept.", |config| {
        config.limits.page_days.to_string()
    }),
    setting("retention", "event_days", "How long events are kept.", |config| config.limits.event_days.to_string()),
    setting("retention", "quota_mb", "How much disk space a store may use.", |config| {
        megabytes(config.limits.quota_bytes)
    }),
];

fn sandbox(sandbox: Sandbox) -> String {
    let word = match sandbox {
        Sandbox::Required => "required",
        Sandbox::BestEffort => "best-effort",
        Sandbox::Seatbelt => "seatbelt",
        Sandbox::Off => "off",
    };
    format!("{word:?}")
}

fn layer(layer: LayerUse) -> String {
    let word = match layer {
        LayerUse::Auto => "auto",
        LayerUse::On => "on",
        LayerUse::Off => "off",
    };
    format!("{word:?}")
}

fn network(network: Network) -> String {
    let word = match network {
        Network::Off => "off",
        Network::AllowList => "allow-list",
        Network::On => "on",
    };
    format!("{word:?}")
}

fn model(model: &EmbeddingModel) -> String {
    match model {
        EmbeddingModel::Off => "\"off\"".to_owned(),
        EmbeddingModel::BuiltIn => "\"built-in\"".to_owned(),
        EmbeddingModel::Folder(path) => format!("{:?}", path.display().to_string()),
        EmbeddingModel::Endpoint { model, .. } => format!("{model:?}"),
    }
}

fn megabytes(bytes: u64) -> String {
    (bytes >> 20).to_string()
}

fn list(items: &[String]) -> String {
    format!("{items:?}")
}
