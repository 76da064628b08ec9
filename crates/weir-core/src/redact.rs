//! Removes secrets from text before it is stored, and puts a mark in the place of each.
//!
//! The rules are data (`rules`), based on gitleaks' list of token shapes. One pass finds their literals (`scan`), and
//! small matchers look at what surrounds them (`token`, `pair`, `context`, `block`). A text with escape sequences and
//! other invisible bytes is searched a second time in its visible form (`visible_form`). The work is linear in the
//! text, whatever it says, and nothing is built or compiled at start, since a hook calls this.
//!
//! Invariants: bytes outside the findings are unchanged, findings are sorted and disjoint, and redaction is idempotent
//! (`window` explains why).

mod block;
mod class;
mod context;
mod names;
mod pair;
mod redactor;
mod rules;
mod scan;
mod stream;
#[cfg(test)]
mod tests;
mod token;
mod value;
mod view;
mod visible_form;
mod window;

use std::borrow::Cow;
use std::ops::Range;

use class::{DIGIT, HEX, LOWER};
pub use redactor::Redactor;
use rules::{BEARER_TOKEN, BY_SURROUNDINGS, COOKIE, CURL_PASSWORD, JWT, MNEMONIC, PASSWORD};
use scan::{Literal, LiteralHit, Sign};
pub use stream::RedactedPart;
use view::Difference;
use window::Window;

/// A text without its secrets, and their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text with a mark in place of each secret; borrowed if there was none.
    pub text: Cow<'a, [u8]>,
    /// The secrets in the order of the text, disjoint.
    pub found: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found the secret, as named in the mark.
    pub rule: &'static str,
    /// The position of its first byte in the original text.
    pub start: usize,
    /// The position after its last byte in the original text.
    pub end: usize,
}

impl Finding {
    fn new(rule: &'static str, range: Range<usize>) -> Self {
        Self { rule, start: range.start, end: range.end }
    }
}

/// Returns a text without its secrets, where their positions do not matter.
pub fn redacted(text: &str) -> String {
    String::from_utf8_lossy(&redact(text.as_bytes()).text).into_owned()
}

/// Replaces each secret in `text` with a mark that names the rule: `[redacted:github-pat]`.
pub fn redact(text: &[u8]) -> Redacted<'_> {
    if let Difference::Found(_) = view::search(text, 0) {
        return redact_visible_form(text);
    }
    let found = find(text);
    if found.is_empty() {
        return Redacted { text: Cow::Borrowed(text), found };
    }
    let mut out = Vec::with_capacity(text.len());
    let mut kept = 0;
    for finding in &found {
        out.extend_from_slice(&text[kept..finding.start]);
        RedactedPart::Mark(finding.rule).write_to(&mut out);
        kept = finding.end;
    }
    out.extend_from_slice(&text[kept..]);
    Redacted { text: Cow::Owned(out), found }
}

fn redact_visible_form(text: &[u8]) -> Redacted<'_> {
    let mut redactor = Redactor::new();
    let (mut found, mut out, mut at) = (Vec::<Finding>::new(), Vec::with_capacity(text.len()), 0);
    let mut follow = |passed: RedactedPart<'_>| {
        passed.write_to(&mut out);
        match passed {
            RedactedPart::Text(part) => at += part.len(),
            RedactedPart::Mark(rule) => found.push(Finding::new(rule, at..at)),
            RedactedPart::Removed(length) => {
                at += length;
                if let Some(last) = found.last_mut() {
                    last.end = at;
                }
            }
        }
    };
    redactor.push_to(text, &mut follow);
    redactor.finish_to(&mut follow);
    let text = if found.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(out) };
    Redacted { text, found }
}

const MARK: &str = "[redacted:";

fn find(text: &[u8]) -> Vec<Finding> {
    let hits = scan::scan(text);
    let marks: Vec<Range<usize>> = hits.iter().filter_map(|hit| mark_at(text, *hit)).collect();
    let private = block::private(text, &hits, &marks).into_iter();
    let mut found: Vec<Finding> = private.map(|span| Finding::new("private", span)).collect();
    // The windows are the parts before, between and after the marks.
    let mut from = 0;
    let mut hits = hits.as_slice();
    for mark in marks.iter().cloned().chain(std::iter::once(text.len()..text.len())) {
        let (inside, rest) = hits.split_at(hits.partition_point(|hit| hit.at < mark.start));
        find_in(&Window::new(text, from..mark.start), inside, &mut found);
        hits = &rest[rest.partition_point(|hit| hit.at < mark.end)..];
        from = mark.end;
    }
    merge(found)
}

fn find_in(window: &Window, hits: &[LiteralHit], found: &mut Vec<Finding>) {
    let mut covered = 0..0;
    for hit in hits {
        // A literal within a secret is part of that secret. Skipping it also keeps the work linear.
        if hit.at > covered.start && hit.at < covered.end {
            continue;
        }
        let finding = find_at(window, *hit);
        let is_sound = !window.take_looked_at_mark();
        if let Some(finding) = finding.filter(|_| is_sound) {
            if finding.start < covered.start || finding.end > covered.end {
                covered = finding.start..finding.end;
            }
            found.push(finding);
        }
    }
}

fn find_at(window: &Window, hit: LiteralHit) -> Option<Finding> {
    let (rule, range) = match hit.literal() {
        Literal::Token(rule) => {
            let wrapped = || if rule.name == JWT { token::wrapped_jwt(window, hit.at) } else { None };
            (rule.name, token::find(window, rule, hit.at).or_else(wrapped)?)
        }
        Literal::Key(key) => pair::find(window, key, hit.at)?,
        Literal::Sign(Sign::PemBegin) => ("private-key", block::pem(window, hit.at)?),
        Literal::Sign(Sign::PuttyLines) => ("private-key", block::putty(window, hit.at)?),
        Literal::Sign(Sign::AnsibleVault) => ("ansible-vault", block::lines_after(window, hit.end(), HEX)?),
        Literal::Sign(Sign::Url) => context::in_url(window, hit.at)?,
        Literal::Sign(Sign::Authorization) => context::authorization(window, hit.end())?,
        Literal::Sign(Sign::Bearer) => (BEARER_TOKEN, context::bearer(window, hit.end())?),
        Literal::Sign(Sign::User) => (CURL_PASSWORD, context::curl_password(window, hit.at, hit.end())?),
        Literal::Sign(Sign::DashP) => (PASSWORD, context::dash_p(window, hit.end())?),
        Literal::Sign(Sign::IdentifiedBy) => (PASSWORD, context::identified_by(window, hit.at, hit.end())?),
        Literal::Sign(Sign::Pgpass) => (PASSWORD, context::pgpass(window, hit.at, hit.end())?),
        Literal::Sign(Sign::Cookie) => (COOKIE, context::cookie(window, hit.end())?),
        Literal::Sign(Sign::CookieJar) => (COOKIE, context::cookie_jar(window, hit.at, hit.end())?),
        Literal::Sign(Sign::JwkMember) => ("private-key", context::jwk_member(window, hit.at, hit.end())?),
        Literal::Sign(Sign::Mnemonic) => (MNEMONIC, context::mnemonic(window, hit.end())?),
        Literal::Sign(Sign::PrivateOpen | Sign::PrivateClose | Sign::Mark) => return None,
    };
    Some(Finding::new(rule, range))
}

/// Returns the mark of an earlier redaction at `hit`.
fn mark_at(text: &[u8], hit: LiteralHit) -> Option<Range<usize>> {
    const MAX_RULE_NAME_BYTES: usize = 40;
    let Literal::Sign(Sign::Mark) = hit.literal() else { return None };
    let name = &text[hit.end()..];
    let length =
        name.iter().take(MAX_RULE_NAME_BYTES).take_while(|&&b| LOWER.has(b) || DIGIT.has(b) || b == b'-').count();
    let is_ours = text[hit.at..].starts_with(MARK.as_bytes()) && length > 0 && name.get(length) == Some(&b']');
    is_ours.then(|| hit.at..hit.end() + length + 1)
}

/// Makes findings disjoint: overlapping ones become one, named after the longest of them.
fn merge(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|finding| (finding.start, std::cmp::Reverse(finding.end)));
    let mut merged: Vec<Finding> = Vec::with_capacity(found.len());
    let mut longest = 0;
    for finding in found {
        let length = finding.end - finding.start;
        match merged.last_mut().filter(|last| finding.start < last.end) {
            Some(last) => {
                last.end = last.end.max(finding.end);
                if length > longest || (length == longest && BY_SURROUNDINGS.contains(&last.rule)) {
                    last.rule = finding.rule;
                    longest = length;
                }
            }
            None => {
                longest = length;
                merged.push(finding);
            }
        }
    }
    merged
}
