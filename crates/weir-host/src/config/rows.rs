//! The settings, each in one row. `docs/configuration.md` explains them.

use std::path::PathBuf;

use serde::Deserialize;
use weir_core::Limits;

use super::declare::{Section, Setting, name, settings};
use super::kinds::{Address, AllowedHosts, Days, Hours, Kind, Megabytes, RawTools, Seconds, SecretFile, Share, Tokens};
use super::{LayerUse, ListedTools, Network, Sandbox};

settings! {
    /// The user's configuration.
    pub struct Config {
        /// Whether a run must have a full sandbox.
        sandbox: Sandbox = Sandbox::Required;
        /// What runs may reach.
        network: Network = Network::Off;
    }

    /// Additional resources and permissions of runs.
    [run]
    pub struct RunConfig {
        /// The time limit of a model's run that sets none.
        timeout ("timeout_seconds"): Seconds<1> = 50; // The shortest limit that a client sets on a call is one minute.
        /// How much a run may print before it is stopped.
        output_bytes ("output_mb"): Megabytes<1> = 2048;
        /// How much memory the processes of a run may use.
        memory_bytes ("memory_mb"): Option<Megabytes> = None, "three quarters of the machine's";
        /// When what a run writes is checked before it is live.
        layer: LayerUse = LayerUse::Off;
        /// Hosts that runs may reach with network = "allow-list".
        hosts: Vec<String> = Vec::new();
        /// Folders that runs may change besides the project.
        writable: Vec<String> = Vec::new();
        /// What runs may read in the home folder besides toolchains.
        readable: Vec<String> = Vec::new();
        /// Environment variables that runs get besides the usual ones.
        environment: Vec<String> = Vec::new();
        /// Programs that run outside the sandbox on behalf of a run.
        brokered: Vec<String> = Vec::new();
    }

    /// Which pages may be fetched, and how.
    [fetch]
    pub struct FetchConfig {
        /// Private hosts that pages may be fetched from.
        allow: AllowedHosts = Vec::new();
        /// The time limit for one page.
        timeout ("timeout_seconds"): Seconds<1, 600> = 30;
        /// How much of a page is read.
        bytes ("size_mb"): Megabytes<1, 64> = 10;
        /// How long a page is used without asking the server again.
        ttl ("ttl_hours"): Hours<0, 8_760> = 24;
    }

    /// The user's own rules, in the format of Claude Code's settings.
    [policy]
    pub struct PolicyConfig {
        /// What is forbidden.
        deny: Vec<String> = Vec::new();
        /// What needs your consent.
        ask: Vec<String> = Vec::new();
        /// What is allowed.
        allow: Vec<String> = Vec::new();
    }

    /// What is held back from the output of a client's own tools. A limit shorter than a digest would save nothing.
    [hold]
    pub struct HoldConfig {
        /// Up to this many tokens, an output that was asked for is shown in full.
        asked_tokens: Tokens<1_000> = 12_000;
        /// The same for builds, tests, installs and listings.
        by_product_tokens: Tokens<1_000> = 2_000;
        /// The same for pages and results of MCP tools.
        flood_tokens: Tokens<1_000> = 2_000;
        /// The same for all other commands.
        unclear_tokens: Tokens<1_000> = 8_000;
        /// Whether to leave out lines that the conversation has already seen.
        repeats: bool = true;
        /// Tools and commands whose output is left alone.
        off: Vec<String> = Vec::new();
        /// Folders in which Weir is off.
        off_folders: Vec<PathBuf> = Vec::new();
    }

    /// The tools of Weir.
    [tools]
    pub struct ToolsConfig {
        /// The tools that clients see.
        list: ListedTools = RawTools::Word("core".to_owned());
    }

    /// The guide of a session.
    [guide]
    pub struct GuideConfig {
        /// Maximum number of tokens in a guide.
        tokens: Option<Tokens<100, 4_000>> = None, "by the window: 900, or 1500 above 150000 tokens";
    }

    /// What `weir proxy` does besides holding back new results.
    [proxy]
    pub struct ProxyConfig {
        /// Whether old results become references once the provider's cache has expired.
        clear_when_cold: bool = false;
    }

    /// What is measured.
    [stats]
    pub struct StatsConfig {
        /// The share of sessions that hooks leave untouched.
        hold_out: Share = 0.0;
    }

    /// Search by meaning.
    [search]
    pub struct SearchConfig {
        /// The model for search by meaning.
        model: Option<String> = None, "\"built-in\"";
        /// The server of that model.
        endpoint: Option<Address> = None, "none";
        /// The file with the key of that server.
        key_file: Option<SecretFile> = None, "none";
    }

    /// What is taken from a team server. Which server that is, the user says with `weir sync`, and no file.
    [team]
    pub struct TeamConfig {
        /// The users whose notes `weir sync` accepts.
        from: Option<Vec<String>> = None, "everybody";
    }

    /// How long stored data is kept.
    [retention]
    pub struct RetentionConfig {
        /// How long outputs of runs are kept.
        run_days: Days = Limits::default().run_days;
        /// How long pages and held-back files are kept.
        page_days: Days = Limits::default().page_days;
        /// How long events are kept.
        event_days: Days = Limits::default().event_days;
        /// How much disk space a store may use.
        quota_bytes ("quota_mb"): Megabytes = Limits::default().quota_bytes >> 20;
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::parse;
    use super::*;

    /// Checks how a setting is shown if the file has this text.
    fn check(text: &str, key: &str, expected: &str) {
        let config = parse(text, Path::new("config.toml")).unwrap();
        let setting = SETTINGS.iter().find(|setting| setting.key() == key).unwrap();
        assert_eq!((setting.value)(&config), expected, "{text}");
    }

    /// Checks what is wrong with a text.
    fn check_error(text: &str, expected: &str) {
        let error = parse(text, Path::new("config.toml")).unwrap_err();
        assert!(error.message.contains(expected), "{}", error.message);
    }

    #[test]
    fn a_setting_has_its_default_or_what_the_file_says_within_bounds() {
        check("", "run.timeout_seconds", "50");
        check("run.timeout_seconds = 0", "run.timeout_seconds", "1");
        check("fetch.size_mb = 1000", "fetch.size_mb", "64");
        check("hold.flood_tokens = 5", "hold.flood_tokens", "1000");
        check("hold.repeats = false", "hold.repeats", "false");
        check("network = \"allow-list\"", "network", "\"allow-list\"");
        check("", "run.memory_mb", "three quarters of the machine's");
        check("run.memory_mb = 3", "run.memory_mb", "3");
        check("team.from = [\"ana\"]", "team.from", "[\"ana\"]");
        check("search.key_file = \"/k\"", "search.key_file", "none");
        check(
            "search = { model = \"m\", endpoint = \"http://h/v1\", key_file = \"/k\" }",
            "search.key_file",
            "set, not shown",
        );
    }

    #[test]
    fn a_value_that_cannot_be_used_is_named_with_its_setting() {
        check_error("stats.hold_out = 0.7", "config.toml: [stats] hold_out: 0.7 is not between 0 and 0.5");
        check_error("tools.list = \"some\"", "[tools] list: `some` is neither `core`, `all` nor a list of names");
        check_error("search.endpoint = \"http://h/v1\"", "[search] has an endpoint but no model");
        check_error("[hold]\nrepeat = true", "unknown field `repeat`, expected one of `asked_tokens`");
        check_error("sandbox = \"of\"", "unknown variant `of`, expected one of `required`");
        check_error("hold = 1", "expected a table");
    }
}
