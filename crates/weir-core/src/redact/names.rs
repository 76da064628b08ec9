//! The names that announce a secret, as data.

/// A name that announces a secret: `client_secret = …`, `"apiKey": …`, `PGPASSWORD=…`.
pub(super) struct Key {
    /// The core of the name in lower case. It matches in any case.
    pub(super) stem: &'static str,
    /// What the value has to look like.
    pub(super) strictness: Strictness,
    /// Whether the stem may directly follow a word (`pgpassword`); `auth` may not (`oauth`).
    pub(super) glued: bool,
}

/// How much a value has to look like a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strictness {
    /// Chosen by a person: short, and often close to a word.
    Password,
    /// Made by a machine: long and random.
    Random,
}

const fn key(stem: &'static str, strictness: Strictness) -> Key {
    Key { stem, strictness, glued: true }
}

const fn word(stem: &'static str, strictness: Strictness) -> Key {
    Key { stem, strictness, glued: false }
}

use Strictness::{Password, Random};

/// The names that announce a secret.
pub(super) const KEYS: &[Key] = &[
    key("password", Password),
    key("passwd", Password),
    key("passphrase", Password),
    key("passwort", Password),
    key("kennwort", Password),
    word("pwd", Password),
    word("pass", Password),
    key("_pass", Password),
    key("secret", Random),
    key("token", Random),
    key("credential", Random),
    word("creds", Random),
    word("auth", Random),
    key("apikey", Random),
    key("api_key", Random),
    key("api-key", Random),
    key("api key", Random),
    key("accesskey", Random),
    key("access_key", Random),
    key("access-key", Random),
    key("accountkey", Random),
    key("account_key", Random),
    key("encryptionkey", Random),
    key("encryption_key", Random),
    key("encryption-key", Random),
    key("masterkey", Random),
    key("master_key", Random),
    key("privatekey", Random),
    key("private_key", Random),
    key("private-key", Random),
    key("signingkey", Random),
    key("signing_key", Random),
    key("signing-key", Random),
    key("presharedkey", Random),
    key("webhook_key", Random),
    key("app_key", Random),
    key("_key", Random),
    key("key-data", Random),
    key("tls.key", Random),
    key("?key", Random),
    key("&key", Random),
    key("privkey", Random),
    word("wif", Random),
    key("_pat", Random),
];

/// The stem of `OPENAI_KEY` and of `cache_key`. It announces a secret only in the name of an environment variable, and
/// only if no other word says that it is a different sort of key.
pub(super) const ANY_KEY: &str = "_key";

/// Words next to [`ANY_KEY`] that indicate a different sort of key.
#[rustfmt::skip]
pub(super) const OTHER_KEYS: &[&str] = &[
    "gpg",
    "pgp",
    "cache",
    "site",
    "host",
    "primary",
    "foreign",
    "sort",
    "partition",
    "index",
    "registry",
    "publishable",
    "product",
    "map",
    "object",
    "dedup",
    "storage",
];

/// Words before `token` in a name that make a UUID a secret. Elsewhere, such a token identifies a request.
pub(super) const UUID_SECRETS: &[&str] = &["postmark", "auth", "access", "api", "bearer", "consul", "nomad"];

/// Words that may follow the stem within a name without changing what it announces: `SECRET_KEY_BASE`, `tokenProd`.
#[rustfmt::skip]
pub(super) const TAILS: &[&str] = &[
    "base64",
    "b64",
    "base",
    "key",
    "token",
    "secret",
    "password",
    "value",
    "val",
    "string",
    "str",
    "hex",
    "plain",
    "private",
    "bedrock",
    "production",
    "prod",
    "staging",
    "stage",
    "development",
    "dev",
    "testing",
    "test",
    "live",
    "local",
    "primary",
    "secondary",
    "default",
    "current",
    "old",
    "new",
    "s",
];

/// Words in a name that make the value public, whatever else the name says.
#[rustfmt::skip]
pub(super) const PUBLIC: &[&str] = &[
    "public",
    "pub",
    "page",
    "next",
    "prev",
    "continuation",
    "cursor",
    "pagination",
    "sync",
    "resume",
    "idempotency",
    "cancellation",
];
