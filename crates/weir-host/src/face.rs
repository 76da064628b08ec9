//! The face that a call came through, and its words for operations, options and references.
//!
//! A person types commands and a model calls tools. A hint names what its reader can use, so every hint is worded here
//! or with the words from here. Most clients list only the core tools; for anything else, a hint names the command,
//! which a model with a shell can run too.

use weir_core::Origin;

/// The face that a call came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Face {
    /// The command line.
    Terminal,
    /// The tools of an MCP client.
    Mcp,
    /// A server, reached over HTTP.
    Http,
}

/// Who reads the answer of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A person: everything, in plain text and local time.
    Person,
    /// A model or a program: what fits a budget, with marks around texts that others wrote, and times in UTC.
    Model,
}

impl Face {
    /// Returns who reads the answers, unless something else is known.
    pub fn reader(self) -> Reader {
        if self.is_person() { Reader::Person } else { Reader::Model }
    }

    /// Returns who writes what comes in through this face.
    pub fn origin(self) -> Origin {
        if self.is_person() { Origin::User } else { Origin::Model }
    }

    /// Whether the caller is a person at this machine.
    pub fn is_person(self) -> bool {
        self == Self::Terminal
    }

    /// Names the operation that returns the text behind a reference.
    pub fn get(self) -> &'static str {
        self.word("`weir get`", "ctx_get")
    }

    /// Names the operation that searches.
    pub fn search(self) -> &'static str {
        self.word("`weir search`", "ctx_search")
    }

    /// Names the operation that processes a file with code.
    pub fn execute_file(self) -> &'static str {
        self.word("`weir run --file`", "ctx_execute")
    }

    pub fn option(self, name: &str) -> String {
        match self {
            Self::Terminal => format!("--{name}"),
            Self::Mcp | Self::Http => format!("`{name}`"),
        }
    }

    /// Names an option with a value of one word.
    pub fn option_as(self, name: &str, value: &str) -> String {
        match self {
            Self::Terminal => format!("--{name} {value}"),
            Self::Mcp | Self::Http => format!("{name} {value}"),
        }
    }

    /// Names an option with a value that may be any text.
    pub fn option_with_text(self, name: &str, value: &str) -> String {
        match self {
            Self::Terminal => format!("--{name} '{}'", value.replace('\'', r"'\''")),
            Self::Mcp | Self::Http => format!("{name} `{value}`"),
        }
    }

    /// Says how to get the rest of an output.
    pub fn read_on(self) -> &'static str {
        self.word(
            "more: `weir get` with --lines, --pattern, --select or --intent",
            "more: ctx_get with lines, pattern, select or intent",
        )
    }

    /// Returns the word for a person who types commands, or the one for a caller of tools.
    pub fn word(self, command: &'static str, tool: &'static str) -> &'static str {
        match self {
            Self::Terminal => command,
            Self::Mcp | Self::Http => tool,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_for_a_shell_is_one_word() {
        assert_eq!(Face::Terminal.option_with_text("source", "it's here"), r"--source 'it'\''s here'");
    }
}
