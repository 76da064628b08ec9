//! Google's `gcloud`. Allows `list` and `describe` in the groups below. A word such as `list` may also be the name of a
//! machine, as in `gcloud compute ssh list`, so the groups are named one by one.

use super::{FILES, HANDS_OUT, IDENTITY, Match, Program, REVEALS, SHELL, STARTED_WITH, listed, values_of};

pub(super) const GCLOUD: Program = Program {
    name: "gcloud",
    globals: &["--project", "--format", "--region", "--zone"],
    switches: &["--quiet", "-q", "--version"],
    command,
    refused: &[
        ("auth", HANDS_OUT),
        ("config", IDENTITY),
        ("init", IDENTITY),
        ("secrets", "it handles credentials"),
        ("app versions describe", STARTED_WITH),
        ("compute instances describe", STARTED_WITH),
        ("functions describe", STARTED_WITH),
        ("run jobs describe", STARTED_WITH),
        ("run revisions describe", STARTED_WITH),
        ("run services describe", STARTED_WITH),
        ("compute ssh", SHELL),
        ("compute scp", SHELL),
        ("compute start-iap-tunnel", SHELL),
        ("compute connect-to-serial-port", SHELL),
        ("compute reset-windows-password", HANDS_OUT),
        ("cloud-shell", SHELL),
        ("app instances ssh", SHELL),
        ("app instances scp", SHELL),
        ("sql connect", SHELL),
        ("sql generate-login-token", HANDS_OUT),
        ("container clusters get-credentials", HANDS_OUT),
        ("iam service-accounts keys", HANDS_OUT),
        ("storage cp", FILES),
        ("storage sign-url", HANDS_OUT),
        ("components", "it changes the program itself"),
    ],
    options: &[
        ("--account", IDENTITY),
        ("--configuration", IDENTITY),
        ("--impersonate-service-account", IDENTITY),
        ("--access-token-file", FILES),
        ("--flags-file", FILES),
        ("--log-http", REVEALS),
        ("--verbosity", REVEALS),
    ],
    abbreviates: true,
    valued: "",
    arguments,
};

/// Groups in which `list` and `describe` are allowed.
const GROUPS: &[&str] = &[
    "app services", "app versions", "artifacts packages", "artifacts repositories", "artifacts versions",
    "billing accounts", "builds", "compute addresses", "compute backend-services", "compute disks",
    "compute firewall-rules", "compute forwarding-rules", "compute images", "compute instance-groups",
    "compute instances", "compute machine-types", "compute networks", "compute regions", "compute routers",
    "compute zones", "container clusters", "container node-pools", "container operations", "dns managed-zones",
    "dns record-sets", "functions", "iam roles", "iam service-accounts", "logging logs", "organizations", "projects",
    "pubsub subscriptions", "pubsub topics", "run jobs", "run revisions", "run services", "services", "sql databases",
    "sql instances", "sql operations", "storage buckets",
];

/// Allowed commands of other forms.
pub(super) const COMMANDS: &[&str] = &["builds log", "functions logs read", "logging read", "storage ls"];

fn command(words: &[&str]) -> Match {
    if let [group @ .., "list" | "describe"] = words
        && GROUPS.contains(&group.join(" ").as_str())
    {
        return Match::Command;
    }
    match (listed(COMMANDS, words), listed(GROUPS, words)) {
        (Match::Command, _) => Match::Command,
        (Match::Nothing, Match::Nothing) => Match::Nothing,
        _ => Match::Beginning,
    }
}

/// Refuses to list machines and services in a format other than a table: other formats contain everything that
/// `describe` prints.
fn arguments(command: &[&str], words: &[&str]) -> Option<&'static str> {
    let [group @ .., "list"] = command else { return None };
    let described = format!("{} describe", group.join(" "));
    if !GCLOUD.refused.iter().any(|(refused, _)| *refused == described) {
        return None;
    }
    let is_table =
        |format: &str| format.starts_with("table(") && !["metadata", "env"].iter().any(|it| format.contains(it));
    (!values_of(&GCLOUD, words, "--format").into_iter().all(is_table)).then_some(STARTED_WITH)
}
