//! Amazon's `aws`. Allows `describe-…` and `list-…` in any service, and those `get-…` commands that return neither
//! credentials nor files. There are too many services to know what other `get-…` commands return.

use super::{ELSEWHERE, FILES, HANDS_OUT, IDENTITY, Match, Program, REVEALS, SHELL, STARTED_WITH, values_of};

pub(super) const AWS: Program = Program {
    name: "aws",
    globals: &["--region", "--output", "--query", "--color", "--cli-read-timeout", "--cli-connect-timeout"],
    switches: &["--no-cli-pager", "--no-paginate", "--no-cli-auto-prompt", "--version"],
    command,
    refused: &[
        ("configure", HANDS_OUT),
        ("sso", HANDS_OUT),
        ("sso-oidc", HANDS_OUT),
        ("login", HANDS_OUT),
        ("cognito-identity", HANDS_OUT),
        ("secretsmanager", "it handles credentials"),
        ("sts get-session-token", HANDS_OUT),
        ("sts get-federation-token", HANDS_OUT),
        ("sts assume-role", HANDS_OUT),
        ("sts assume-role-with-saml", HANDS_OUT),
        ("sts assume-role-with-web-identity", HANDS_OUT),
        ("ecr get-login", HANDS_OUT),
        ("ecr get-login-password", HANDS_OUT),
        ("ecr get-authorization-token", HANDS_OUT),
        ("ecr-public get-login-password", HANDS_OUT),
        ("ecr-public get-authorization-token", HANDS_OUT),
        ("codeartifact get-authorization-token", HANDS_OUT),
        ("codeartifact login", HANDS_OUT),
        ("eks get-token", HANDS_OUT),
        ("eks update-kubeconfig", FILES),
        ("redshift get-cluster-credentials", HANDS_OUT),
        ("rds generate-db-auth-token", HANDS_OUT),
        ("iam create-access-key", HANDS_OUT),
        ("lightsail get-instance-access-details", HANDS_OUT),
        ("ec2 get-password-data", HANDS_OUT),
        ("ssm get-parameter", "parameters hold credentials"),
        ("ssm get-parameters", "parameters hold credentials"),
        ("ssm get-parameters-by-path", "parameters hold credentials"),
        ("ssm get-parameter-history", "parameters hold credentials"),
        ("autoscaling describe-launch-configurations", STARTED_WITH),
        ("ec2 describe-launch-template-versions", STARTED_WITH),
        ("ecs describe-task-definition", STARTED_WITH),
        ("lambda list-functions", STARTED_WITH),
        ("ssm start-session", SHELL),
        ("ecs execute-command", SHELL),
        ("ec2-instance-connect", SHELL),
        ("s3 cp", FILES),
        ("s3 sync", FILES),
        ("s3 mv", FILES),
        ("s3 presign", HANDS_OUT),
        ("s3api get-object", FILES),
    ],
    options: &[
        ("--endpoint-url", "it sends the credentials' signature to another server"),
        ("--profile", IDENTITY),
        ("--debug", REVEALS),
        ("--no-verify-ssl", "anyone could answer"),
        ("--ca-bundle", FILES),
        ("--cli-input-json", FILES),
        ("--cli-input-yaml", FILES),
        ("--with-decryption", "parameters hold credentials"),
        ("--include-values", HANDS_OUT),
    ],
    abbreviates: true,
    valued: "",
    arguments,
};

pub(super) const COMMANDS: &[&str] = &[
    "ce get-cost-and-usage",
    "cloudformation get-template",
    "cloudwatch get-metric-data",
    "cloudwatch get-metric-statistics",
    "codebuild batch-get-builds",
    "codepipeline get-pipeline-state",
    "ec2 get-console-output",
    "iam get-group",
    "iam get-policy",
    "iam get-policy-version",
    "iam get-role",
    "iam get-role-policy",
    "iam get-user",
    "logs filter-log-events",
    "logs get-log-events",
    "logs get-query-results",
    "logs start-query",
    "logs tail",
    "route53 get-hosted-zone",
    "s3 ls",
    "s3api get-bucket-lifecycle-configuration",
    "s3api get-bucket-location",
    "s3api get-bucket-policy",
    "s3api get-bucket-versioning",
    "s3api head-bucket",
    "s3api head-object",
    "stepfunctions get-execution-history",
    "sts get-caller-identity",
];

fn command(words: &[&str]) -> Match {
    let is_name =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    match words {
        [service] if is_name(service) => Match::Beginning,
        [_, action] if is_name(action) && only_shows(action) => Match::Command,
        [service, action] if COMMANDS.contains(&format!("{service} {action}").as_str()) => Match::Command,
        _ => Match::Nothing,
    }
}

/// Returns whether an action only lists or describes. Those that return credentials say so in their names.
fn only_shows(action: &str) -> bool {
    let shows = action.starts_with("describe-") || action.starts_with("list-");
    shows && !["credential", "secret", "password", "token"].iter().any(|word| action.contains(word))
}

/// Refuses values that name a file or a URL to read from, and regions that are not valid, since the region is part of
/// the server's name.
fn arguments(command: &[&str], words: &[&str]) -> Option<&'static str> {
    let reads = |word: &&str| ["file://", "fileb://", "http://", "https://"].iter().any(|scheme| word.contains(scheme));
    if words.iter().any(reads) {
        return Some(FILES);
    }
    if !values_of(&AWS, words, "--region").into_iter().all(is_region) {
        return Some(ELSEWHERE);
    }
    let about_users_data = words.iter().any(|word| word.to_lowercase().contains("userdata"));
    (command == ["ec2", "describe-instance-attribute"] && about_users_data).then_some(STARTED_WITH)
}

/// Returns whether a text has the form of a region, such as `eu-west-1` or `us-gov-east-1`.
pub(in crate::broker) fn is_region(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [first, middle @ .., number] = &parts[..] else { return false };
    let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    first.len() == 2 && is_word(first) && !middle.is_empty() && middle.iter().all(is_word) && is_number
}
