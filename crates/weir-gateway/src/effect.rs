//! What a tool of a server may do, by its own hints and its name. Invariant: hints and names only tighten what a tool
//! without hints is taken for, except that a tool may say that it only reads; one whose name says otherwise is not
//! believed.

use rmcp::model::Tool;

/// What a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolEffect {
    Reads,
    Writes,
    Destroys,
}

/// Words in the name of a tool that destroys something, whatever its hints say.
const DESTROYING: &[&str] = &["delete", "destroy", "drop", "erase", "purge", "remove", "truncate", "wipe"];

impl ToolEffect {
    pub const ALL: [Self; 3] = [Self::Reads, Self::Writes, Self::Destroys];

    pub fn of(tool: &Tool) -> Self {
        let hints = tool.annotations.as_ref();
        let hinted = match hints {
            Some(hints) if hints.read_only_hint == Some(true) => Self::Reads,
            Some(hints) if hints.destructive_hint == Some(true) => Self::Destroys,
            _ => Self::Writes,
        };
        if words(&tool.name).any(|word| DESTROYING.contains(&word.as_str())) { Self::Destroys } else { hinted }
    }

    /// The tool of the gateway that makes such calls.
    pub fn caller(self) -> &'static str {
        match self {
            Self::Reads => "ctx_call_read",
            Self::Writes => "ctx_call_write",
            Self::Destroys => "ctx_call_destructive",
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Destroys => "destructive",
        }
    }
}

/// Returns the words of a name such as `delete_file`, `deleteFile` or `delete-file`, in lower case.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rmcp::model::ToolAnnotations;

    use super::*;

    #[test]
    fn hints_and_names_say_what_a_tool_does() {
        let check = |name: &'static str, read_only: Option<bool>, destructive: Option<bool>, expected| {
            let hints = ToolAnnotations::from_raw(None, read_only, destructive, None, None);
            let tool = Tool::new(name, "", Arc::default()).with_annotations(hints);
            assert_eq!(ToolEffect::of(&tool), expected, "{name}");
        };
        check("list_issues", Some(true), None, ToolEffect::Reads);
        check("list_issues", None, None, ToolEffect::Writes);
        check("create_issue", Some(false), Some(false), ToolEffect::Writes);
        check("merge", Some(false), Some(true), ToolEffect::Destroys);
        // A tool that lies is not believed.
        check("delete_file", Some(true), None, ToolEffect::Destroys);
        check("API-deleteBlock", Some(true), Some(false), ToolEffect::Destroys);
        check("list_dropped_packets", Some(true), None, ToolEffect::Reads);
    }
}
