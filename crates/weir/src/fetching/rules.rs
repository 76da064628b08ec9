//! Applies the user's rules about pages: `WebFetch` and `WebFetch(domain:…)` in Claude Code's permissions and our own.
//!
//! A denial applies to the host and its subdomains, even if a redirect leads there. A rule that asks is asked once per
//! call, for all pages that it applies to; if it applies to none of them, a redirect to one of its hosts is refused.

use weir_fetch::Url;
use weir_policy::rules::{Subject, Verdict};

use crate::context::Context;
use crate::run;

/// The name of the clients' own tool for fetching.
const TOOL: &str = "WebFetch";
/// The name under which clients know our tool.
const OURS: &str = "mcp__weir__ctx_fetch_and_index";

/// Returns the hosts that may not be reached, as patterns, after asking the user where a rule requires it.
pub(super) async fn denied(context: &Context, urls: &[&Url]) -> Vec<String> {
    let rules = read(context);
    let mut denied = Vec::new();
    for rule in &rules {
        let asked = rule.verdict == Verdict::Ask;
        // A host that is not requested now may still be the target of a redirect.
        let concerned: Vec<&str> = urls.iter().filter_map(|url| url.host_str()).filter(|host| rule.has(host)).collect();
        let agreed = asked && !concerned.is_empty() && {
            let question = format!("Fetch it? {} asks", rule.text);
            // A list that is too long to be shown counts as a refusal.
            context.consent(&question, &concerned.join("\n")).await.unwrap_or(false)
        };
        if !agreed {
            denied.extend(rule.patterns());
        }
    }
    denied
}

/// A rule that denies or asks.
struct Rule {
    text: String,
    verdict: Verdict,
    /// The domain that the rule is about, or `None` for all domains.
    domain: Option<String>,
}

impl Rule {
    fn has(&self, host: &str) -> bool {
        let Some(domain) = &self.domain else { return true };
        let host = host.trim_end_matches('.');
        host == domain || host.strip_suffix(domain.as_str()).is_some_and(|before| before.ends_with('.'))
    }

    fn patterns(&self) -> Vec<String> {
        match &self.domain {
            None => vec!["*".to_owned()],
            // An IP address has no subdomains.
            Some(address) if address.parse::<std::net::IpAddr>().is_ok() => vec![address.clone()],
            Some(domain) => vec![domain.clone(), format!("*.{domain}")],
        }
    }
}

/// Reads the rules. This happens for every call, so a change takes effect immediately.
fn read(context: &Context) -> Vec<Rule> {
    let rules = run::rules::read(context);
    let strict = rules.iter().filter(|rule| rule.verdict > Verdict::Allow);
    let mut found: Vec<Rule> = strict
        .filter_map(|rule| match &rule.subject {
            Subject::Tool(text) => of(text, rule.verdict),
            _ => None,
        })
        .collect();
    if let Some(rule) = rules.tool(OURS).filter(|rule| rule.verdict > Verdict::Allow) {
        found.push(Rule { text: rule.text.clone(), verdict: rule.verdict, domain: None });
    }
    // An unreadable file may deny anything, so it denies everything, and so does an unreadable rule about pages.
    let unread = rules
        .problems()
        .iter()
        .filter(|problem| problem.asks && problem.rule.as_ref().is_none_or(|rule| rule.trim_start().starts_with(TOOL)));
    found.extend(unread.map(|problem| Rule {
        text: format!("{} ({})", problem.path.display(), problem.wrong),
        verdict: Verdict::Ask,
        domain: None,
    }));
    found
}

/// Parses a rule about pages.
fn of(text: &str, verdict: Verdict) -> Option<Rule> {
    let domain = match text.strip_prefix(TOOL)? {
        "" | "*" | "(*)" => None,
        rest => {
            let domain = rest.strip_prefix('(')?.strip_suffix(')')?.trim();
            // A pattern that is not understood denies everything, since misunderstanding a rule must not make it more
            // lenient.
            let domain = domain.strip_prefix("domain:").unwrap_or("*").trim();
            let domain = domain.strip_prefix("*.").unwrap_or(domain).trim_end_matches('.').to_ascii_lowercase();
            Some(domain).filter(|domain| !domain.is_empty() && domain != "*")
        }
    };
    Some(Rule { text: text.to_owned(), verdict, domain })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, host: &str) -> Option<bool> {
        of(text, Verdict::Deny).map(|rule| rule.has(host))
    }

    #[test]
    fn rules_are_about_a_domain_and_what_is_below_it() {
        assert_eq!(check("WebFetch(domain:example.com)", "example.com"), Some(true));
        assert_eq!(check("WebFetch(domain:Example.com)", "docs.example.com"), Some(true));
        assert_eq!(check("WebFetch(domain:*.example.com)", "docs.example.com"), Some(true));
        assert_eq!(check("WebFetch(domain:example.com)", "notexample.com"), Some(false));
        assert_eq!(check("WebFetch", "any.org"), Some(true));
        assert_eq!(check("WebFetch(what else)", "any.org"), Some(true));
        assert_eq!(check("WebSearch", "any.org"), None);
        assert_eq!(check("WebFetcher(domain:a)", "a"), None);
    }
}
