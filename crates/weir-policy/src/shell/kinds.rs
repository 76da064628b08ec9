//! The node kinds of the grammar, and what is known about each.

/// The named node kinds that we can read. Any other kind, such as one from a newer grammar, is not understood.
pub(super) const KNOWN: &[&str] = &[
    "ansi_c_string", "arithmetic_expansion", "array", "binary_expression", "brace_expression", "c_style_for_statement",
    "case_item", "case_statement", "command", "command_name", "command_substitution", "comment", "compound_statement",
    "concatenation", "declaration_command", "do_group", "elif_clause", "else_clause", "expansion", "extglob_pattern",
    "file_descriptor", "file_redirect", "for_statement", "function_definition", "heredoc_body", "heredoc_content",
    "heredoc_end", "heredoc_redirect", "heredoc_start", "herestring_redirect", "if_statement", "list",
    "negated_command", "number", "parenthesized_expression", "pipeline", "postfix_expression", "process_substitution",
    "program", "raw_string", "redirected_statement", "regex", "simple_expansion", "special_variable_name", "string",
    "string_content", "subscript", "subshell", "ternary_expression", "test_command", "test_operator",
    "translated_string", "unary_expression", "unset_command", "variable_assignment", "variable_assignments",
    "variable_name", "while_statement", "word",
];

/// The kinds that nest: each adds one level of depth. Chains of `&&` and `|` do not.
pub(super) const NESTING: &[&str] = &[
    "arithmetic_expansion", "array", "case_statement", "command_substitution", "compound_statement", "expansion",
    "for_statement", "c_style_for_statement", "function_definition", "if_statement", "parenthesized_expression",
    "process_substitution", "string", "subshell", "while_statement",
];

/// The kinds in which a bare newline ends the command, whatever the grammar says.
pub(super) const ONE_LINE: &[&str] = &[
    "command", "command_name", "concatenation", "declaration_command", "file_redirect", "herestring_redirect",
    "negated_command", "redirected_statement", "simple_expansion", "subscript", "unset_command", "variable_assignment",
    "variable_assignments",
];

/// The kinds whose words are separated by space. The grammar also splits words where the shell does not.
pub(super) const SPACED: &[&str] = &[
    "array", "command", "declaration_command", "file_redirect", "for_statement", "redirected_statement",
    "test_command", "unset_command", "variable_assignments",
];

/// The kinds that may contain a comment.
pub(super) const COMMENTED: &[&str] = &[
    "array", "case_item", "case_statement", "command_substitution", "compound_statement", "do_group", "elif_clause",
    "else_clause", "for_statement", "function_definition", "if_statement", "list", "pipeline", "process_substitution",
    "program", "subshell", "while_statement",
];

/// Returns whether the value of a node of this kind is known only at run time.
pub(super) fn is_expansion(kind: &str) -> bool {
    matches!(
        kind,
        "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "brace_expression"
    )
}

pub(super) fn depth_below(kind: &str, depth: usize) -> usize {
    depth + usize::from(NESTING.contains(&kind))
}
