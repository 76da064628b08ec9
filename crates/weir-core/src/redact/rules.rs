//! The rules, as data: what tokens look like. The names that announce a secret are in `names`.
//!
//! The shapes and most names are facts taken from gitleaks' `config/gitleaks.toml`
//! (<https://github.com/gitleaks/gitleaks>, MIT), a maintained list; the rest are from the vendors' documentation of
//! their own tokens. If vendors announce that tokens may grow, the maximum length is generous.
//!
//! Invariant: one line, one literal. Every literal has at least three bytes, which `scan` relies on.

use super::class::{
    ALNUM, ALPHA, ANY_HEX, AZURE, BASE64, BASE64_EQ, CRYPT, Class, DIGIT, HEX, IN_URL, LOWER_ALNUM, UPPER_ALNUM, URL64,
    URL64_DOT, URL64_DOT_EQ, URL64_EQ, WORD,
};

/// The shape of one kind of token: a literal and what follows it.
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// The literal that every such token has, in this case.
    pub(super) literal: &'static str,
    /// The parts after the literal.
    pub(super) body: &'static [RulePart],
    /// A run that must precede the literal and belongs to the token.
    pub(super) lead: Option<(Class, usize, usize)>,
    /// Whether the literal also occurs within names or base64, so that no character of these may precede it.
    pub(super) apart: bool,
    /// Whether the literal stays readable, like the public part of a webhook's address.
    pub(super) keeps_literal: bool,
}

/// A part of a token.
pub(super) enum RulePart {
    /// A run of a class, with its minimum and maximum length in bytes.
    Run(Class, usize, usize),
    Text(&'static str),
}

use RulePart::{Run, Text};

const fn rule(name: &'static str, literal: &'static str, body: &'static [RulePart]) -> Rule {
    Rule { name, literal, body, lead: None, apart: false, keeps_literal: false }
}

impl Rule {
    const fn after(self, class: Class, min: usize, max: usize) -> Self {
        Self { lead: Some((class, min, max)), ..self }
    }

    const fn apart(self) -> Self {
        Self { apart: true, ..self }
    }

    const fn keeping_literal(self) -> Self {
        Self { keeps_literal: true, ..self }
    }
}

/// Longer than any token. Runs with this maximum end only where their class ends.
pub(super) const LONG: usize = 1 << 16;

/// A Twilio key is `SK` and 32 hexadecimal digits. The first digit is part of the literal, which needs three bytes.
const TWILIO: &[RulePart] = &[Run(HEX, 31, 31)];

/// A token of Discord is the number of an account in base64, a time and a signature. The beginning of the number is
/// part of the literal. Numbers that begin with 4, 5, 8 or 9 are left out, since in base64 they begin like many words.
const DISCORD: &[RulePart] = &[Run(ALNUM, 20, 25), Text("."), Run(URL64, 6, 6), Text("."), Run(URL64, 27, 38)];

/// The name of the rule for JSON Web Tokens, which are also found over several lines.
pub(super) const JWT: &str = "jwt";

/// What follows the beginning of a private key in base64.
const PEM: &[RulePart] = &[Run(BASE64_EQ, 100, LONG)];

/// Tokens that are recognised by their shape, wherever they occur.
#[rustfmt::skip]
pub(super) const TOKENS: &[Rule] = &[
    rule("1password-secret-key", "A3-", &[Run(UPPER_ALNUM, 6, 6), Text("-"), Run(UPPER_ALNUM, 6, 11), Text("-"), Run(UPPER_ALNUM, 5, 5), Text("-"), Run(UPPER_ALNUM, 5, 5), Text("-"), Run(UPPER_ALNUM, 5, 5)]),
    rule("1password-service-account-token", "ops_eyJ", &[Run(BASE64_EQ, 250, LONG)]),
    rule("adobe-client-secret", "p8e-", &[Run(ALNUM, 32, 32)]),
    rule("age-secret-key", "AGE-SECRET-KEY-1", &[Run(UPPER_ALNUM, 58, 58)]),
    rule("airtable-personal-access-token", "pat", &[Run(ALNUM, 14, 14), Text("."), Run(HEX, 64, 64)]),
    rule("alibaba-access-key-id", "LTAI", &[Run(ALNUM, 20, 20)]),
    rule("anthropic-api-key", "sk-ant-", &[Run(URL64, 32, 200)]),
    rule("artifactory-api-key", "AKCp", &[Run(ALNUM, 69, 69)]),
    rule("artifactory-reference-token", "cmVmd", &[Run(ALNUM, 59, 59)]),
    rule("atlassian-api-token", "ATATT3", &[Run(URL64_EQ, 60, 300)]),
    rule("atlassian-api-token", "ATCTT3", &[Run(URL64_EQ, 60, 300)]),
    rule("aws-access-key-id", "AKIA", &[Run(UPPER_ALNUM, 16, 16)]),
    rule("aws-access-key-id", "ASIA", &[Run(UPPER_ALNUM, 16, 16)]),
    rule("aws-access-key-id", "ABIA", &[Run(UPPER_ALNUM, 16, 16)]),
    rule("aws-access-key-id", "ACCA", &[Run(UPPER_ALNUM, 16, 16)]),
    rule("aws-bedrock-api-key", "ABSKQmVkcm9ja0FQSUtleS", &[Run(BASE64_EQ, 80, 300)]),
    rule("aws-bedrock-api-key", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t", &[Run(BASE64_EQ, 20, 4096)]),
    rule("aws-secret-key", "AKIA", &[Run(UPPER_ALNUM, 16, 16), Text(","), Run(BASE64, 40, 40)]),
    rule("aws-secret-key", "AKIA", &[Run(UPPER_ALNUM, 16, 16), Text("\",\""), Run(BASE64, 40, 40)]),
    rule("aws-secret-key", "AKIA", &[Run(UPPER_ALNUM, 16, 16), Text(":"), Run(BASE64, 40, 40)]),
    rule("aws-secret-key", "AKIA", &[Run(UPPER_ALNUM, 16, 16), Text(" "), Run(BASE64, 40, 40)]),
    rule("aws-secret-key", "AKIA", &[Run(UPPER_ALNUM, 16, 16), Text("\t"), Run(BASE64, 40, 40)]),
    rule("aws-signature", "X-Amz-Signature=", &[Run(HEX, 64, 64)]).keeping_literal(),
    rule("aws-session-token", "X-Amz-Security-Token=", &[Run(IN_URL, 100, 4096)]).keeping_literal(),
    rule("azure-ai-key", "JQQJ99", &[Run(ALNUM, 26, 26)]).after(ALNUM, 52, 52),
    rule("azure-client-secret", "7Q~", &[Run(AZURE, 31, 34)]).after(AZURE, 3, 3),
    rule("azure-client-secret", "8Q~", &[Run(AZURE, 31, 34)]).after(AZURE, 3, 3),
    rule("azure-devops-token", "AZDO", &[Run(ALNUM, 4, 4)]).after(ALNUM, 76, 76),
    rule("azure-sas", "sig=", &[Run(IN_URL, 43, 120)]).keeping_literal(),
    rule("bitbucket-app-password", "ATBB", &[Run(ALNUM, 32, 32)]),
    rule("bitbucket-token", "BBDC-", &[Run(BASE64, 44, 44)]),
    rule("braintree-access-token", "access_token$production$", &[Run(LOWER_ALNUM, 16, 16), Text("$"), Run(HEX, 32, 32)]),
    rule("brevo-api-key", "xkeysib-", &[Run(HEX, 64, 64), Text("-"), Run(ALNUM, 16, 16)]),
    rule("brevo-smtp-key", "xsmtpsib-", &[Run(HEX, 64, 64), Text("-"), Run(ALNUM, 16, 16)]),
    rule("buildkite-api-token", "bkua_", &[Run(HEX, 40, 40)]),
    rule("cerebras-api-key", "csk-", &[Run(LOWER_ALNUM, 48, 52)]),
    rule("circleci-token", "CCIPAT_", &[Run(ALNUM, 20, 24), Text("_"), Run(HEX, 40, 40)]),
    rule("circleci-token", "CCIPRJ_", &[Run(ALNUM, 20, 24), Text("_"), Run(HEX, 40, 40)]),
    rule("clickhouse-cloud-secret-key", "4b1d", &[Run(ALNUM, 38, 38)]),
    rule("clickup-api-token", "pk_", &[Run(DIGIT, 6, 10), Text("_"), Run(UPPER_ALNUM, 32, 32)]),
    rule("clojars-token", "CLOJARS_", &[Run(LOWER_ALNUM, 60, 60)]),
    rule("cloudflare-api-key", "cfk_", &[Run(ALNUM, 40, 64)]),
    rule("cloudflare-api-token", "cfut_", &[Run(ALNUM, 40, 64)]),
    rule("cloudflare-api-token", "cfat_", &[Run(ALNUM, 40, 64)]),
    rule("cloudflare-origin-ca-key", "v1.0-", &[Run(HEX, 24, 24), Text("-"), Run(HEX, 146, 146)]),
    rule("cloudfront-signature", "&Signature=", &[Run(IN_URL, 28, 1024)]).keeping_literal(),
    rule("contentful-token", "CFPAT-", &[Run(URL64, 43, 43)]),
    rule("crates-io-token", "cio", &[Run(ALNUM, 32, 32)]),
    rule("cursor-api-key", "crsr_", &[Run(HEX, 64, 64)]),
    rule("databricks-token", "dapi", &[Run(HEX, 32, 32)]),
    rule("defined-networking-token", "dnkey-", &[Run(URL64_EQ, 79, 79)]),
    rule("digitalocean-token", "dop_v1_", &[Run(HEX, 64, 64)]),
    rule("digitalocean-token", "doo_v1_", &[Run(HEX, 64, 64)]),
    rule("digitalocean-token", "dor_v1_", &[Run(HEX, 64, 64)]),
    rule("discord-bot-token", "MTA", DISCORD), rule("discord-bot-token", "MTE", DISCORD), rule("discord-bot-token", "MTI", DISCORD), rule("discord-bot-token", "MTM", DISCORD), rule("discord-bot-token", "MTQ", DISCORD),
    rule("discord-bot-token", "MTU", DISCORD), rule("discord-bot-token", "MTY", DISCORD), rule("discord-bot-token", "MTc", DISCORD), rule("discord-bot-token", "MTg", DISCORD), rule("discord-bot-token", "MTk", DISCORD),
    rule("discord-bot-token", "MjA", DISCORD), rule("discord-bot-token", "MjE", DISCORD), rule("discord-bot-token", "MjI", DISCORD), rule("discord-bot-token", "MjM", DISCORD), rule("discord-bot-token", "MjQ", DISCORD),
    rule("discord-bot-token", "MjU", DISCORD), rule("discord-bot-token", "MjY", DISCORD), rule("discord-bot-token", "Mjc", DISCORD), rule("discord-bot-token", "Mjg", DISCORD), rule("discord-bot-token", "Mjk", DISCORD),
    rule("discord-bot-token", "MzA", DISCORD), rule("discord-bot-token", "MzE", DISCORD), rule("discord-bot-token", "MzI", DISCORD), rule("discord-bot-token", "MzM", DISCORD), rule("discord-bot-token", "MzQ", DISCORD),
    rule("discord-bot-token", "MzU", DISCORD), rule("discord-bot-token", "MzY", DISCORD), rule("discord-bot-token", "Mzc", DISCORD), rule("discord-bot-token", "Mzg", DISCORD), rule("discord-bot-token", "Mzk", DISCORD),
    rule("discord-bot-token", "NjA", DISCORD), rule("discord-bot-token", "NjE", DISCORD), rule("discord-bot-token", "NjI", DISCORD), rule("discord-bot-token", "NjM", DISCORD), rule("discord-bot-token", "NjQ", DISCORD),
    rule("discord-bot-token", "NjU", DISCORD), rule("discord-bot-token", "NjY", DISCORD), rule("discord-bot-token", "Njc", DISCORD), rule("discord-bot-token", "Njg", DISCORD), rule("discord-bot-token", "Njk", DISCORD),
    rule("discord-bot-token", "NzA", DISCORD), rule("discord-bot-token", "NzE", DISCORD), rule("discord-bot-token", "NzI", DISCORD), rule("discord-bot-token", "NzM", DISCORD), rule("discord-bot-token", "NzQ", DISCORD),
    rule("discord-bot-token", "NzU", DISCORD), rule("discord-bot-token", "NzY", DISCORD), rule("discord-bot-token", "Nzc", DISCORD), rule("discord-bot-token", "Nzg", DISCORD), rule("discord-bot-token", "Nzk", DISCORD),
    rule("discord-webhook", "/api/webhooks/", &[Run(DIGIT, 16, 20), Text("/"), Run(URL64, 60, 80)]).keeping_literal(),
    rule("docker-token", "dckr_pat_", &[Run(URL64, 27, 64)]),
    rule("docker-token", "dckr_oat_", &[Run(URL64, 27, 64)]),
    rule("doppler-token", "dp.pt.", &[Run(ALNUM, 40, 44)]),
    rule("doppler-token", "dp.ct.", &[Run(ALNUM, 40, 44)]),
    rule("doppler-token", "dp.sa.", &[Run(ALNUM, 40, 44)]),
    rule("doppler-token", "dp.scim.", &[Run(ALNUM, 40, 44)]),
    rule("doppler-token", "dp.audit.", &[Run(ALNUM, 40, 44)]),
    rule("dropbox-token", "sl.", &[Run(URL64_EQ, 130, 2048)]),
    rule("dropbox-token", "sl.u.", &[Run(URL64_EQ, 100, 2048)]),
    rule("duffel-token", "duffel_test_", &[Run(URL64_EQ, 43, 43)]),
    rule("duffel-token", "duffel_live_", &[Run(URL64_EQ, 43, 43)]),
    rule("dynatrace-token", "dt0c01.", &[Run(ALNUM, 24, 24), Text("."), Run(ALNUM, 64, 64)]),
    rule("easypost-api-key", "EZAK", &[Run(ALNUM, 54, 54)]),
    rule("easypost-api-key", "EZTK", &[Run(ALNUM, 54, 54)]),
    rule("elevenlabs-api-key", "sk_", &[Run(HEX, 48, 48)]),
    rule("facebook-access-token", "EAA", &[Run(ALNUM, 100, 400)]).apart(),
    rule("figma-token", "figd_", &[Run(URL64, 38, 64)]),
    rule("firebase-server-key", "AAAA", &[Run(URL64, 7, 7), Text(":"), Run(URL64, 134, 160)]).apart(),
    rule("firecrawl-api-key", "fc-", &[Run(HEX, 32, 32)]),
    rule("fireworks-api-key", "fw_", &[Run(ALNUM, 22, 24)]),
    rule("flutterwave-key", "FLWSECK_TEST-", &[Run(LOWER_ALNUM, 12, 32)]),
    rule("flutterwave-key", "FLWSECK-", &[Run(LOWER_ALNUM, 32, 32)]),
    rule("fly-token", "fo1_", &[Run(URL64, 43, 43)]),
    rule("fly-token", "fm1a_", &[Run(BASE64_EQ, 100, LONG)]),
    rule("fly-token", "fm1r_", &[Run(BASE64_EQ, 100, LONG)]),
    rule("fly-token", "fm2_", &[Run(BASE64_EQ, 100, LONG)]),
    rule("frameio-token", "fio-u-", &[Run(URL64_EQ, 64, 64)]),
    rule("gcp-api-key", "AIza", &[Run(URL64, 35, 35)]),
    rule("github-app-token", "ghu_", &[Run(ALNUM, 36, 255)]),
    rule("github-app-token", "ghs_", &[Run(URL64_DOT, 36, 600)]),
    rule("github-fine-grained-pat", "github_pat_", &[Run(WORD, 50, 255)]),
    rule("github-oauth", "gho_", &[Run(ALNUM, 36, 255)]),
    rule("github-pat", "ghp_", &[Run(ALNUM, 36, 255)]),
    rule("github-refresh-token", "ghr_", &[Run(ALNUM, 36, 255)]),
    rule("gitlab-cicd-job-token", "glcbt-", &[Run(URL64, 20, 64)]),
    rule("gitlab-deploy-token", "gldt-", &[Run(URL64, 20, 64)]),
    rule("gitlab-feature-flag-token", "glffct-", &[Run(URL64, 20, 64)]),
    rule("gitlab-feed-token", "glft-", &[Run(URL64, 20, 64)]),
    rule("gitlab-incoming-mail-token", "glimt-", &[Run(URL64, 25, 64)]),
    rule("gitlab-kubernetes-agent-token", "glagent-", &[Run(URL64, 50, 300)]),
    rule("gitlab-oauth-app-secret", "gloas-", &[Run(URL64, 64, 128)]),
    rule("gitlab-pat", "glpat-", &[Run(URL64_DOT, 20, 300)]),
    rule("gitlab-pipeline-trigger-token", "glptt-", &[Run(URL64_DOT, 40, 300)]),
    rule("gitlab-runner-token", "glrt-", &[Run(URL64_DOT, 20, 300)]),
    rule("gitlab-runner-registration-token", "GR1348941", &[Run(URL64, 20, 32)]),
    rule("gitlab-scim-token", "glsoat-", &[Run(URL64, 20, 64)]),
    rule("gitlab-session-cookie", "_gitlab_session=", &[Run(HEX, 32, 32)]).keeping_literal(),
    rule("google-api-key", "AQ.Ab8", &[Run(URL64, 40, 80)]),
    rule("google-oauth-client-secret", "GOCSPX-", &[Run(URL64, 28, 28)]),
    rule("google-oauth-token", "ya29.", &[Run(URL64_DOT, 40, 2048)]),
    rule("google-signature", "X-Goog-Signature=", &[Run(HEX, 128, 1024)]).keeping_literal(),
    rule("grafana-api-key", "eyJrIjoi", &[Run(BASE64_EQ, 70, 400)]),
    rule("grafana-cloud-token", "glc_", &[Run(BASE64_EQ, 32, 400)]),
    rule("grafana-service-account-token", "glsa_", &[Run(ALNUM, 32, 32), Text("_"), Run(ANY_HEX, 8, 8)]),
    rule("groq-api-key", "gsk_", &[Run(ALNUM, 48, 64)]),
    rule("harness-token", "pat.", &[Run(URL64, 22, 22), Text("."), Run(ALNUM, 24, 24), Text("."), Run(ALNUM, 20, 20)]),
    rule("harness-token", "sat.", &[Run(URL64, 22, 22), Text("."), Run(ALNUM, 24, 24), Text("."), Run(ALNUM, 20, 20)]),
    rule("heroku-api-key", "HRKU-", &[Run(URL64, 36, 64)]),
    rule("honeycomb-key", "hcaik_", &[Run(LOWER_ALNUM, 58, 58)]),
    rule("honeycomb-key", "hcamk_", &[Run(LOWER_ALNUM, 58, 58)]),
    rule("hubspot-token", "pat-na1-", &[Run(URL64, 36, 36)]),
    rule("hubspot-token", "pat-eu1-", &[Run(URL64, 36, 36)]),
    rule("huggingface-token", "hf_", &[Run(ALNUM, 34, 40)]),
    rule("huggingface-token", "api_org_", &[Run(ALPHA, 34, 34)]),
    rule("infisical-token", "st.", &[Run(HEX, 24, 24), Text("."), Run(HEX, 32, 32), Text("."), Run(HEX, 32, 32)]),
    rule("infracost-token", "ico-", &[Run(ALNUM, 32, 32)]),
    rule("intra42-client-secret", "s-s4t2ud-", &[Run(HEX, 64, 64)]),
    rule("intra42-client-secret", "s-s4t2af-", &[Run(HEX, 64, 64)]),
    rule("jina-api-key", "jina_", &[Run(URL64, 60, 64)]),
    rule(JWT, "eyJ", &[Run(URL64, 14, LONG), Text(".eyJ"), Run(URL64, 10, LONG), Text("."), Run(URL64, 10, LONG)]),
    rule("jwe", "eyJ", &[Run(URL64, 14, 1024), Text("."), Run(URL64, 0, 1024), Text("."), Run(URL64, 10, 64), Text("."), Run(URL64, 10, LONG), Text("."), Run(URL64, 16, 64)]),
    rule("langfuse-secret-key", "sk-lf-", &[Run(URL64, 36, 36)]),
    rule("langsmith-api-key", "lsv2_", &[Run(WORD, 40, 64)]),
    rule("linear-api-key", "lin_api_", &[Run(ALNUM, 40, 40)]),
    rule("linear-api-key", "lin_oauth_", &[Run(HEX, 64, 64)]),
    rule("mailchimp-api-key", "-us", &[Run(DIGIT, 1, 2)]).after(HEX, 32, 32),
    rule("mailgun-api-key", "key-", &[Run(HEX, 32, 32)]).apart(),
    rule("mapbox-secret-token", "sk.eyJ", &[Run(URL64, 40, 400), Text("."), Run(URL64, 20, 24)]),
    rule("maxmind-license-key", "_mmk", &[]).after(WORD, 36, 36),
    rule("microsoft-teams-webhook", "/IncomingWebhook/", &[Run(LOWER_ALNUM, 32, 32), Text("/"), Run(URL64, 36, 36)]).keeping_literal(),
    rule("neon-api-key", "napi_", &[Run(LOWER_ALNUM, 50, 80)]),
    rule("neon-password", "npg_", &[Run(ALNUM, 12, 12)]),
    rule("netlify-token", "nfp_", &[Run(ALNUM, 36, 40)]),
    rule("new-relic-browser-key", "NRJS-", &[Run(HEX, 19, 19)]),
    rule("new-relic-insert-key", "NRII-", &[Run(URL64, 32, 32)]),
    rule("new-relic-user-key", "NRAK-", &[Run(UPPER_ALNUM, 27, 27)]),
    rule("notion-token", "ntn_", &[Run(ALNUM, 43, 50)]),
    rule("notion-token", "secret_", &[Run(ALNUM, 43, 43)]),
    rule("npm-access-token", "npm_", &[Run(ALNUM, 36, 36)]),
    rule("nuget-api-key", "oy2", &[Run(LOWER_ALNUM, 43, 43)]),
    rule("nvidia-api-key", "nvapi-", &[Run(URL64, 60, 80)]),
    rule("octopus-deploy-key", "API-", &[Run(UPPER_ALNUM, 26, 26)]),
    rule("okta-api-token", "SSWS ", &[Run(URL64, 40, 44)]).keeping_literal(),
    rule("openai-api-key", "sk-proj-", &[Run(URL64, 40, 200)]),
    rule("openai-api-key", "sk-svcacct-", &[Run(URL64, 40, 200)]),
    rule("openai-api-key", "sk-admin-", &[Run(URL64, 40, 200)]),
    rule("openai-api-key", "sk-None-", &[Run(URL64, 40, 200)]),
    rule("openai-api-key", "sk-", &[Run(ALNUM, 32, 64)]),
    rule("openrouter-api-key", "sk-or-v1-", &[Run(HEX, 64, 64)]),
    rule("openshift-token", "sha256~", &[Run(URL64, 43, 43)]),
    rule("password-hash", "$apr1$", &[Run(CRYPT, 24, 40)]),
    rule("password-hash", "$argon2id$v=19$m=", &[Run(DIGIT, 2, 8), Text(",t="), Run(DIGIT, 1, 3), Text(",p="), Run(DIGIT, 1, 3), Text("$"), Run(CRYPT, 40, 200)]),
    rule("password-hash", "$2a$", &[Run(DIGIT, 2, 2), Text("$"), Run(CRYPT, 53, 53)]),
    rule("password-hash", "$2b$", &[Run(DIGIT, 2, 2), Text("$"), Run(CRYPT, 53, 53)]),
    rule("password-hash", "$2y$", &[Run(DIGIT, 2, 2), Text("$"), Run(CRYPT, 53, 53)]),
    rule("password-hash", "$5$", &[Run(CRYPT, 45, 64)]),
    rule("password-hash", "$5$rounds=", &[Run(CRYPT, 48, 80)]),
    rule("password-hash", "$6$", &[Run(CRYPT, 88, 107)]),
    rule("password-hash", "$6$rounds=", &[Run(CRYPT, 92, 120)]),
    rule("password-hash", "$y$", &[Run(CRYPT, 60, 160)]),
    rule("perplexity-api-key", "pplx-", &[Run(ALNUM, 48, 48)]),
    rule("pinecone-api-key", "pcsk_", &[Run(WORD, 50, 80)]),
    rule("planetscale-token", "pscale_tkn_", &[Run(URL64_DOT_EQ, 32, 64)]),
    rule("planetscale-token", "pscale_oauth_", &[Run(URL64_DOT_EQ, 32, 64)]),
    rule("planetscale-password", "pscale_pw_", &[Run(URL64_DOT_EQ, 32, 64)]),
    rule("plaid-access-token", "access-sandbox-", &[Run(URL64, 36, 36)]),
    rule("plaid-access-token", "access-development-", &[Run(URL64, 36, 36)]),
    rule("plaid-access-token", "access-production-", &[Run(URL64, 36, 36)]),
    rule("postman-api-key", "PMAK-", &[Run(ANY_HEX, 24, 24), Text("-"), Run(ANY_HEX, 34, 34)]),
    rule("posthog-personal-api-key", "phx_", &[Run(ALNUM, 43, 52)]),
    rule("prefect-token", "pnu_", &[Run(ALNUM, 36, 36)]),
    rule("private-key", "LS0tLS1CRUdJTiBQUklWQVRF", PEM), rule("private-key", "LS0tLS1CRUdJTiBSU0EgUFJJVkFU", PEM), rule("private-key", "LS0tLS1CRUdJTiBFQyBQUklWQVRF", PEM),
    rule("private-key", "LS0tLS1CRUdJTiBPUEVOU1NIIFBS", PEM), rule("private-key", "LS0tLS1CRUdJTiBFTkNSWVBURUQg", PEM), rule("private-key", "LS0tLS1CRUdJTiBEU0EgUFJJVkFU", PEM),
    rule("pulumi-token", "pul-", &[Run(HEX, 40, 40)]),
    rule("pypi-token", "pypi-AgE", &[Run(URL64, 60, LONG)]),
    rule("readme-token", "rdme_", &[Run(LOWER_ALNUM, 70, 70)]),
    rule("render-api-key", "rnd_", &[Run(ALNUM, 26, 40)]),
    rule("replicate-token", "r8_", &[Run(ALNUM, 37, 40)]),
    rule("resend-api-key", "re_", &[Run(ALNUM, 8, 8), Text("_"), Run(ALNUM, 24, 24)]),
    rule("rubygems-api-key", "rubygems_", &[Run(HEX, 48, 48)]),
    rule("runpod-api-key", "rpa_", &[Run(ALNUM, 40, 50)]),
    rule("scalingo-token", "tk-us-", &[Run(URL64, 48, 48)]),
    rule("segment-token", "sgp_", &[Run(ALNUM, 64, 64)]),
    rule("sendgrid-api-key", "SG.", &[Run(URL64, 22, 22), Text("."), Run(URL64, 43, 43)]),
    rule("sentry-org-token", "sntrys_eyJ", &[Run(BASE64_EQ, 40, LONG), Text("_"), Run(BASE64, 43, 43)]),
    rule("sentry-user-token", "sntryu_", &[Run(HEX, 64, 64)]),
    rule("settlemint-token", "sm_aat_", &[Run(ALNUM, 16, 16)]),
    rule("settlemint-token", "sm_pat_", &[Run(ALNUM, 16, 16)]),
    rule("settlemint-token", "sm_sat_", &[Run(ALNUM, 16, 16)]),
    rule("shippo-token", "shippo_live_", &[Run(ANY_HEX, 40, 40)]),
    rule("shippo-token", "shippo_test_", &[Run(ANY_HEX, 40, 40)]),
    rule("shopify-token", "shpat_", &[Run(ANY_HEX, 32, 32)]),
    rule("shopify-token", "shpca_", &[Run(ANY_HEX, 32, 32)]),
    rule("shopify-token", "shppa_", &[Run(ANY_HEX, 32, 32)]),
    rule("shopify-token", "shpss_", &[Run(ANY_HEX, 32, 32)]),
    rule("slack-app-token", "xapp-", &[Run(DIGIT, 1, 1), Text("-"), Run(UPPER_ALNUM, 8, 16), Text("-"), Run(DIGIT, 8, 16), Text("-"), Run(ALNUM, 20, 128)]),
    rule("slack-token", "xoxb-", &[Run(URL64, 20, 255)]),
    rule("slack-token", "xoxp-", &[Run(URL64, 20, 255)]),
    rule("slack-token", "xoxa-", &[Run(URL64, 8, 255)]),
    rule("slack-token", "xoxr-", &[Run(URL64, 8, 255)]),
    rule("slack-token", "xoxs-", &[Run(URL64, 20, 255)]),
    rule("slack-token", "xoxo-", &[Run(URL64, 20, 255)]),
    rule("slack-token", "xoxc-", &[Run(URL64, 20, 255)]),
    rule("slack-token", "xoxd-", &[Run(IN_URL, 20, 600)]),
    rule("slack-token", "xoxe-", &[Run(URL64, 20, 255)]),
    rule("slack-token", "xoxe.xox", &[Run(URL64, 160, 255)]),
    rule("slack-webhook", "hooks.slack.com/services/", &[Run(UPPER_ALNUM, 8, 16), Text("/"), Run(UPPER_ALNUM, 8, 16), Text("/"), Run(ALNUM, 16, 32)]).keeping_literal(),
    rule("slack-webhook", "hooks.slack.com/workflows/", &[Run(BASE64, 43, 80)]).keeping_literal(),
    rule("slack-webhook", "hooks.slack.com/triggers/", &[Run(BASE64, 43, 80)]).keeping_literal(),
    rule("sonarqube-token", "sqa_", &[Run(HEX, 40, 40)]), rule("sonarqube-token", "sqp_", &[Run(HEX, 40, 40)]), rule("sonarqube-token", "squ_", &[Run(HEX, 40, 40)]),
    rule("sourcegraph-token", "sgp_", &[Run(ANY_HEX, 40, 40)]),
    rule("sourcegraph-token", "sgp_", &[Run(ANY_HEX, 16, 16), Text("_"), Run(ANY_HEX, 40, 40)]),
    rule("square-access-token", "sq0atp-", &[Run(URL64, 22, 60)]),
    rule("square-access-token", "EAAA", &[Run(URL64, 60, 60)]).apart(),
    rule("square-oauth-secret", "sq0csp-", &[Run(URL64, 43, 43)]),
    rule("stripe-key", "sk_live_", &[Run(ALNUM, 16, 255)]),
    rule("stripe-key", "sk_test_", &[Run(ALNUM, 16, 255)]),
    rule("stripe-key", "sk_prod_", &[Run(ALNUM, 16, 255)]),
    rule("stripe-key", "rk_live_", &[Run(ALNUM, 16, 255)]),
    rule("stripe-key", "rk_test_", &[Run(ALNUM, 16, 255)]),
    rule("stripe-key", "rk_prod_", &[Run(ALNUM, 16, 255)]),
    rule("stripe-webhook-secret", "whsec_", &[Run(BASE64_EQ, 24, 80)]),
    rule("supabase-token", "sbp_", &[Run(HEX, 40, 40)]),
    rule("supabase-token", "sbp_v0_", &[Run(HEX, 40, 40)]),
    rule("supabase-secret-key", "sb_secret_", &[Run(URL64, 22, 64)]),
    rule("tailscale-key", "tskey-", &[Run(URL64, 24, 80)]),
    rule("tavily-api-key", "tvly-", &[Run(URL64, 32, 64)]),
    rule("telegram-bot-token", ":AA", &[Run(URL64, 33, 33)]).after(DIGIT, 8, 10),
    rule("tencent-secret-id", "AKID", &[Run(ALNUM, 32, 32)]),
    rule("terraform-cloud-token", ".atlasv1.", &[Run(URL64_EQ, 60, 70)]).after(ALNUM, 14, 14),
    rule("together-api-key", "tgp_v1_", &[Run(URL64, 43, 43)]),
    rule("twilio-api-key", "SK0", TWILIO), rule("twilio-api-key", "SK1", TWILIO), rule("twilio-api-key", "SK2", TWILIO), rule("twilio-api-key", "SK3", TWILIO),
    rule("twilio-api-key", "SK4", TWILIO), rule("twilio-api-key", "SK5", TWILIO), rule("twilio-api-key", "SK6", TWILIO), rule("twilio-api-key", "SK7", TWILIO),
    rule("twilio-api-key", "SK8", TWILIO), rule("twilio-api-key", "SK9", TWILIO), rule("twilio-api-key", "SKa", TWILIO), rule("twilio-api-key", "SKb", TWILIO),
    rule("twilio-api-key", "SKc", TWILIO), rule("twilio-api-key", "SKd", TWILIO), rule("twilio-api-key", "SKe", TWILIO), rule("twilio-api-key", "SKf", TWILIO),
    rule("typeform-token", "tfp_", &[Run(URL64_DOT_EQ, 43, 59)]),
    rule("vault-batch-token", "hvb.", &[Run(URL64, 100, 400)]),
    rule("vault-recovery-token", "hvr.", &[Run(URL64, 24, 400)]),
    rule("vault-service-token", "hvs.", &[Run(URL64, 24, 400)]),
    rule("vercel-token", "vcp_", &[Run(ALNUM, 24, 80)]), rule("vercel-token", "vci_", &[Run(ALNUM, 24, 80)]), rule("vercel-token", "vca_", &[Run(ALNUM, 24, 80)]),
    rule("vercel-token", "vcr_", &[Run(ALNUM, 24, 80)]), rule("vercel-token", "vck_", &[Run(ALNUM, 24, 80)]),
    rule("wandb-api-key", "wandb_v1_", &[Run(WORD, 70, 90)]),
    rule("weir-token", "weir_read_", &[Run(HEX, 64, 64)]), rule("weir-token", "weir_write_", &[Run(HEX, 64, 64)]), rule("weir-token", "weir_run_", &[Run(HEX, 64, 64)]),
    rule("weir-token", "weir_", &[Run(HEX, 16, 16), Text("_"), Run(HEX, 64, 64)]),
    rule("xai-api-key", "xai-", &[Run(ALNUM, 70, 90)]),
    rule("yandex-api-key", "AQVN", &[Run(URL64, 35, 38)]),
    rule("yandex-iam-token", "t1.", &[Run(URL64_EQ, 40, 2048), Text("."), Run(URL64_EQ, 86, 88)]),
    rule("yandex-oauth-token", "y0_", &[Run(URL64, 55, 64)]),
    rule("zapier-webhook", "hooks.zapier.com/hooks/catch/", &[Run(DIGIT, 4, 12), Text("/"), Run(ALNUM, 6, 32)]).keeping_literal(),
];

/// The names of the rules that recognise a secret by its surroundings and not by its shape.
pub(super) const PASSWORD: &str = "password";
pub(super) const GENERIC_SECRET: &str = "generic-secret";
pub(super) const URL_PASSWORD: &str = "url-password";
pub(super) const CURL_PASSWORD: &str = "curl-password";
pub(super) const BASIC_AUTH: &str = "basic-auth";
pub(super) const BEARER_TOKEN: &str = "bearer-token";
pub(super) const URL_TOKEN: &str = "url-token";
pub(super) const COOKIE: &str = "cookie";
pub(super) const MNEMONIC: &str = "mnemonic";

/// All of these names. If such a rule and one of [`TOKENS`] find the same secret, the shape says more.
pub(super) const BY_SURROUNDINGS: &[&str] =
    &[PASSWORD, GENERIC_SECRET, URL_PASSWORD, CURL_PASSWORD, BASIC_AUTH, BEARER_TOKEN, URL_TOKEN, COOKIE, MNEMONIC];
