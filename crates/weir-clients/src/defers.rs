//! Whether a client sends the descriptions of MCP tools in every request, or only once its model looks for a tool.

/// When a client sends the descriptions of the tools of MCP servers to its model, as observed. Settings may change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defers {
    /// In full in every request.
    Never { tried: &'static str },
    /// Only once the model looks for a tool.
    Always {
        tried: &'static str,
        /// The first version that does it with every server of models, if earlier ones do so only with its maker's.
        since: Option<&'static str>,
        /// About how many tokens a tool costs until then, for its name.
        per_tool: u64,
    },
    /// Only once the model looks for a tool, if the client knows the model. For all others, in full.
    OwnModels {
        tried: &'static str,
        /// How the names of the models that it knows begin.
        prefix: &'static str,
        /// About how many tokens a tool costs until then, for its name.
        per_tool: u64,
    },
    /// Nobody has looked.
    Unknown,
}

impl Defers {
    /// Returns whether the client defers descriptions in this version and with this model, whatever server of models it
    /// uses. What is not known of them is taken to be current. Returns `None` if nobody has looked.
    pub fn applies(self, version: Option<&str>, model: Option<&str>) -> Option<bool> {
        Some(match self {
            Self::Never { .. } => false,
            Self::Always { since: None, .. } => true,
            Self::Always { since: Some(since), .. } => version.is_none_or(|version| numbers(version) >= numbers(since)),
            Self::OwnModels { prefix, .. } => model.is_none_or(|model| model.starts_with(prefix)),
            Self::Unknown => return None,
        })
    }

    /// Returns about how many tokens a tool still costs where its description is deferred.
    pub fn per_tool(self) -> u64 {
        match self {
            Self::Always { per_tool, .. } | Self::OwnModels { per_tool, .. } => per_tool,
            Self::Never { .. } | Self::Unknown => 0,
        }
    }

    /// Returns the first version that defers descriptions with every server of models, if earlier ones do not.
    pub fn since(self) -> Option<&'static str> {
        match self {
            Self::Always { since, .. } => since,
            Self::Never { .. } | Self::OwnModels { .. } | Self::Unknown => None,
        }
    }

    pub fn tried(self) -> Option<&'static str> {
        match self {
            Self::Never { tried } | Self::Always { tried, .. } | Self::OwnModels { tried, .. } => Some(tried),
            Self::Unknown => None,
        }
    }
}

/// Returns the numbers of a version, so that versions compare as they were released.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    fn of(client: &str, version: Option<&str>, model: Option<&str>) -> Option<bool> {
        crate::find(client).unwrap().defers_tools.applies(version, model)
    }

    #[test]
    fn deferral_depends_on_the_client_its_version_and_its_model() {
        assert_eq!(of("claude", None, None), Some(true));
        assert_eq!(of("claude", Some("2.1.304"), None), Some(true));
        assert_eq!(of("claude", Some("2.1.70"), None), Some(false));
        assert_eq!(of("claude", Some("3.0.0"), None), Some(true));
        assert_eq!(of("codex", None, Some("gpt-5.5")), Some(true));
        assert_eq!(of("codex", None, Some("a-model-of-mine")), Some(false));
        assert_eq!(of("qwen", None, None), Some(true));
        assert_eq!(of("gemini", None, None), Some(false));
        assert_eq!(of("cursor", None, None), None);
    }
}
