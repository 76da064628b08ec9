//! Returns the names of all commands in a script, as another shell parser sees them.

use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item};
use brush_parser::word::{self, ParameterExpr, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Names that are known before the script runs.
    pub(crate) known: Vec<String>,
    /// Number of names that are known only at run time.
    pub(crate) unknown: usize,
    /// Number of words of a kind that only one of the parsers resolves: `$'…'` and tildes.
    pub(crate) odd: usize,
}

/// Returns the names in a script, or `None` if the other parser rejects it or a part of it.
pub(crate) fn names(script: &str) -> Option<Names> {
    let mut names = Names::default();
    names.script(script, 0)?;
    Some(names)
}

/// The quotes around a piece of a word.
#[derive(Clone, Copy, PartialEq)]
enum Quotes {
    None,
    Double,
}

fn options() -> ParserOptions {
    ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() }
}

impl Names {
    fn script(&mut self, script: &str, depth: usize) -> Option<()> {
        if depth > 8 {
            return None;
        }
        let program = Parser::new(std::io::Cursor::new(script.as_bytes()), &options()).parse_program().ok()?;
        program.complete_commands.iter().try_for_each(|list| self.list(list, depth))
    }

    fn list(&mut self, list: &ast::CompoundList, depth: usize) -> Option<()> {
        for ast::CompoundListItem(and_or, _) in &list.0 {
            self.pipeline(&and_or.first, depth)?;
            for ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) in &and_or.additional {
                self.pipeline(pipeline, depth)?;
            }
        }
        Some(())
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, depth: usize) -> Option<()> {
        pipeline.seq.iter().try_for_each(|command| self.command(command, depth))
    }

    fn command(&mut self, command: &ast::Command, depth: usize) -> Option<()> {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, depth),
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound, depth)?;
                self.redirects(redirects.as_ref(), depth)
            }
            ast::Command::Function(function) => {
                self.compound(&function.body.0, depth)?;
                self.redirects(function.body.1.as_ref(), depth)
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr, depth)?;
                self.redirects(redirects.as_ref(), depth)
            }
        }
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, depth: usize) -> Option<()> {
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, depth)?;
        }
        if let Some(name) = &simple.word_or_name {
            match self.word(&name.value, depth)? {
                Some(text) => self.known.push(text),
                None => self.unknown += 1,
            }
        }
        simple.suffix.iter().flat_map(|suffix| &suffix.0).try_for_each(|item| self.item(item, depth))
    }

    fn item(&mut self, item: &Item, depth: usize) -> Option<()> {
        match item {
            Item::IoRedirect(redirect) => self.redirect(redirect, depth),
            Item::Word(word) => self.word(&word.value, depth).map(drop),
            Item::AssignmentWord(assignment, _) => self.assignment(assignment, depth),
            Item::ProcessSubstitution(_, subshell) => self.list(&subshell.list, depth),
        }
    }

    fn assignment(&mut self, assignment: &ast::Assignment, depth: usize) -> Option<()> {
        if let ast::AssignmentName::ArrayElementName(_, index) = &assignment.name {
            self.word(index, depth)?;
        }
        match &assignment.value {
            ast::AssignmentValue::Scalar(word) => self.word(&word.value, depth).map(drop),
            ast::AssignmentValue::Array(items) => items.iter().try_for_each(|(index, value)| {
                if let Some(index) = index {
                    self.word(&index.value, depth)?;
                }
                self.word(&value.value, depth).map(drop)
            }),
        }
    }

    fn compound(&mut self, compound: &ast::CompoundCommand, depth: usize) -> Option<()> {
        use ast::CompoundCommand as C;
        match compound {
            C::Arithmetic(arithmetic) => self.word(&arithmetic.expr.value, depth).map(drop),
            C::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.word(&part.value, depth)?;
                }
                self.list(&clause.body.list, depth)
            }
            C::BraceGroup(group) => self.list(&group.list, depth),
            C::Subshell(subshell) => self.list(&subshell.list, depth),
            C::ForClause(clause) => {
                for value in clause.values.iter().flatten() {
                    self.word(&value.value, depth)?;
                }
                self.list(&clause.body.list, depth)
            }
            C::CaseClause(clause) => {
                self.word(&clause.value.value, depth)?;
                clause.cases.iter().try_for_each(|case| {
                    for pattern in &case.patterns {
                        self.word(&pattern.value, depth)?;
                    }
                    case.cmd.iter().try_for_each(|list| self.list(list, depth))
                })
            }
            C::IfClause(clause) => {
                self.list(&clause.condition, depth)?;
                self.list(&clause.then, depth)?;
                clause.elses.iter().flatten().try_for_each(|other| {
                    other.condition.iter().try_for_each(|list| self.list(list, depth))?;
                    self.list(&other.body, depth)
                })
            }
            C::WhileClause(clause) | C::UntilClause(clause) => {
                self.list(&clause.0, depth)?;
                self.list(&clause.1.list, depth)
            }
            C::Coprocess(coprocess) => self.command(&coprocess.body, depth),
        }
    }

    fn test(&mut self, test: &ast::ExtendedTestExpr, depth: usize) -> Option<()> {
        use ast::ExtendedTestExpr as T;
        match test {
            T::And(a, b) | T::Or(a, b) => self.test(a, depth).and_then(|()| self.test(b, depth)),
            T::Not(a) | T::Parenthesized(a) => self.test(a, depth),
            T::UnaryTest(_, word) => self.word(&word.value, depth).map(drop),
            T::BinaryTest(_, a, b) => {
                self.word(&a.value, depth)?;
                self.word(&b.value, depth).map(drop)
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&ast::RedirectList>, depth: usize) -> Option<()> {
        redirects.iter().flat_map(|list| &list.0).try_for_each(|redirect| self.redirect(redirect, depth))
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect, depth: usize) -> Option<()> {
        use ast::IoFileRedirectTarget as Target;
        match redirect {
            ast::IoRedirect::File(_, _, Target::Filename(word) | Target::Duplicate(word)) => {
                self.word(&word.value, depth).map(drop)
            }
            ast::IoRedirect::File(_, _, Target::ProcessSubstitution(_, subshell)) => self.list(&subshell.list, depth),
            ast::IoRedirect::File(_, _, Target::Fd(_)) => Some(()),
            ast::IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                let pieces = word::parse_heredoc(&document.doc.value, &options()).ok()?;
                self.pieces(&pieces, Quotes::None, depth).map(drop)
            }
            ast::IoRedirect::HereDocument(..) => Some(()),
            ast::IoRedirect::HereString(_, word) | ast::IoRedirect::OutputAndError(word, _) => {
                self.word(&word.value, depth).map(drop)
            }
        }
    }

    /// Returns the text of a word if it is known, after visiting the commands inside it.
    fn word(&mut self, text: &str, depth: usize) -> Option<Option<String>> {
        let pieces = word::parse(text, &options()).ok()?;
        let known = self.pieces(&pieces, Quotes::None, depth)?;
        let braces = matches!(word::parse_brace_expansions(text, &options()), Ok(Some(parts)) if parts.len() > 1);
        Some(known.filter(|_| !braces))
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], quotes: Quotes, depth: usize) -> Option<Option<String>> {
        let mut known = Some(String::new());
        for piece in pieces {
            let text = match &piece.piece {
                WordPiece::Text(text) if quotes == Quotes::None && text.contains(['*', '?', '[']) && text != "[" => {
                    None
                }
                WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => Some(text.clone()),
                WordPiece::EscapeSequence(text) => Some(text.strip_prefix('\\').unwrap_or(text).to_owned()),
                WordPiece::DoubleQuotedSequence(pieces) => self.pieces(pieces, Quotes::Double, depth)?,
                WordPiece::GettextDoubleQuotedSequence(pieces) => self.pieces(pieces, Quotes::Double, depth)?.and(None),
                WordPiece::CommandSubstitution(script) => self.script(script, depth + 1).map(|()| None)?,
                WordPiece::BackquotedCommandSubstitution(script) => self.script(script, depth + 1).map(|()| None)?,
                WordPiece::ArithmeticExpression(expression) => self.word(&expression.value, depth + 1)?.and(None),
                WordPiece::ParameterExpansion(parameter) => self.parameter(parameter, depth + 1).map(|()| None)?,
                WordPiece::AnsiCQuotedText(_) | WordPiece::TildeExpansion(_) => {
                    self.odd += 1;
                    None
                }
            };
            known = known.zip(text).map(|(known, text)| known + &text);
        }
        Some(known)
    }

    fn parameter(&mut self, parameter: &ParameterExpr, depth: usize) -> Option<()> {
        use ParameterExpr as P;
        if depth > 8 {
            return None;
        }
        let texts: Vec<&str> = match parameter {
            P::UseDefaultValues { default_value: text, .. }
            | P::AssignDefaultValues { default_value: text, .. }
            | P::IndicateErrorIfNullOrUnset { error_message: text, .. }
            | P::UseAlternativeValue { alternative_value: text, .. }
            | P::RemoveSmallestSuffixPattern { pattern: text, .. }
            | P::RemoveLargestSuffixPattern { pattern: text, .. }
            | P::RemoveSmallestPrefixPattern { pattern: text, .. }
            | P::RemoveLargestPrefixPattern { pattern: text, .. }
            | P::UppercaseFirstChar { pattern: text, .. }
            | P::UppercasePattern { pattern: text, .. }
            | P::LowercaseFirstChar { pattern: text, .. }
            | P::LowercasePattern { pattern: text, .. } => text.iter().map(String::as_str).collect(),
            P::ReplaceSubstring { pattern, replacement, .. } => {
                [Some(pattern), replacement.as_ref()].into_iter().flatten().map(String::as_str).collect()
            }
            P::Substring { offset, length, .. } => {
                [Some(offset), length.as_ref()].into_iter().flatten().map(|part| part.value.as_str()).collect()
            }
            _ => Vec::new(),
        };
        texts.into_iter().try_for_each(|text| self.word(text, depth).map(drop))
    }
}
