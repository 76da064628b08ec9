//! Rules about pages: `WebFetch` and `WebFetch(domain:…)` of Claude Code's permissions and the user's own.

use crate::rules::{Rules, Subject, Verdict};

/// The name of the tool that clients fetch with.
const TOOL: &str = "WebFetch";

/// A rule that denies pages or asks about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRule {
    /// The rule as written, or the file that could not be read.
    pub text: String,
    /// Whether it denies or asks.
    pub verdict: Verdict,
    /// The domain it is about; without one, every domain.
    domain: Option<String>,
}

impl PageRule {
    /// Whether it is about a host: the domain itself or what is below it.
    pub fn covers(&self, host: &str) -> bool {
        let Some(domain) = &self.domain else { return true };
        let host = host.trim_end_matches('.');
        host == domain || host.strip_suffix(domain.as_str()).is_some_and(|before| before.ends_with('.'))
    }

    /// The hosts it is about, as patterns.
    pub fn patterns(&self) -> Vec<String> {
        match &self.domain {
            None => vec!["*".to_owned()],
            // Nothing is below an address.
            Some(address) if address.parse::<std::net::IpAddr>().is_ok() => vec![address.clone()],
            Some(domain) => vec![domain.clone(), format!("*.{domain}")],
        }
    }

    fn parse(text: &str, verdict: Verdict) -> Option<Self> {
        let domain = match text.strip_prefix(TOOL)? {
            "" | "*" | "(*)" => None,
            rest => {
                let domain = rest.strip_prefix('(')?.strip_suffix(')')?.trim();
                // What is not understood denies everything: it is not a reason to be more lenient.
                let domain = domain.strip_prefix("domain:").unwrap_or("*").trim();
                let domain = domain.strip_prefix("*.").unwrap_or(domain).trim_end_matches('.').to_ascii_lowercase();
                Some(domain).filter(|domain| !domain.is_empty() && domain != "*")
            }
        };
        Some(Self { text: text.to_owned(), verdict, domain })
    }
}

impl Rules {
    /// The rules about pages that `tool` fetches, which clients know by this name.
    pub fn pages(&self, tool: &str) -> Vec<PageRule> {
        let strict = self.iter().filter(|rule| rule.verdict > Verdict::Allow);
        let mut found: Vec<PageRule> = strict
            .filter_map(|rule| match &rule.subject {
                Subject::Tool(text) => PageRule::parse(text, rule.verdict),
                _ => None,
            })
            .collect();
        if let Some(rule) = self.tool(tool).filter(|rule| rule.verdict > Verdict::Allow) {
            found.push(PageRule { text: rule.text.clone(), verdict: rule.verdict, domain: None });
        }
        // A file that cannot be read may deny anything, and so may a rule about pages that cannot.
        let speaks = |rule: &String| rule.trim_start().starts_with(TOOL);
        let unread = self.problems().iter().filter(|problem| problem.asks && problem.rule.as_ref().is_none_or(speaks));
        found.extend(unread.map(|problem| PageRule {
            text: format!("{} ({})", problem.path.display(), problem.wrong),
            verdict: Verdict::Ask,
            domain: None,
        }));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, host: &str) -> Option<bool> {
        PageRule::parse(text, Verdict::Deny).map(|rule| rule.covers(host))
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
