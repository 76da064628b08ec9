//! One entry: the digest beside the whole text, with line numbers and folds.

use std::collections::HashSet;

use maud::{Markup, html};
use weir_core::wording::size;

use crate::components::{COPY, Fact, Key, MOVE, facts, forget, origin};
use crate::figures::{count, counted, percent};
use crate::moment::Moment;
use crate::routes::Page;
use crate::shell::{Content, Shell};
use crate::text::Text;
use crate::words::{Badge, Words};

#[derive(Debug, Clone)]
pub struct EntryPage {
    /// Its reference, without the marks around it.
    pub reference: Text,
    /// The command, the path, the title of the page.
    pub title: Text,
    pub is_code: bool,
    pub words: Words,
    /// The tool or the place that it came from.
    pub source: Option<Text>,
    pub at: Moment,
    /// When it will be removed.
    pub expires: Option<Moment>,
    /// Whether it is kept regardless of age, because a note cites it.
    pub is_pinned: bool,
    /// How it ended, and what speaks against it.
    pub badges: Vec<Badge>,
    pub session: Option<SessionLink>,
    /// What it comes to; none if its text is gone, or if the run that writes it is in progress.
    pub figures: Option<Figures>,
    /// The text as a digest; empty if a model gets the whole text.
    pub digest: Vec<DigestLine>,
    /// What is not shown, and where the rest is, in whole sentences.
    pub remarks: Vec<Text>,
    /// The text, with folds. Empty if the text is gone.
    pub text: Vec<Piece>,
    /// What was asked for with the field above the text: lines or a pattern.
    pub asked_for: Option<Text>,
    /// What the model asked for again; none if that is not known.
    pub again: Option<Vec<AskedAgain>>,
    /// Why the text is gone, if it is.
    pub gone: Option<Text>,
}

#[derive(Debug, Clone)]
pub struct SessionLink {
    /// Identifies the session.
    pub key: Text,
    /// What it is about.
    pub title: Text,
    pub request: Option<u64>,
}

/// What an entry comes to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    pub tokens: Option<u64>,
    pub digest_tokens: Option<u64>,
    pub lines: Option<u64>,
    pub bytes: u64,
    /// Secrets that were removed before it was stored.
    pub redactions: u64,
}

#[derive(Debug, Clone)]
pub enum DigestLine {
    /// The line on top.
    Headline(Text),
    /// The name of a part.
    Part(Text),
    /// A line, and the line of the text that it comes from.
    Line { at: Option<u64>, text: Text },
}

/// A piece of a text: a line, or lines that are folded.
#[derive(Debug, Clone)]
pub enum Piece {
    Line(Line),
    Fold {
        /// The first line.
        from: u64,
        /// The last line.
        to: u64,
        what: Option<Text>,
        /// The lines; empty if there are too many for the page, which then has a link to them.
        lines: Vec<Line>,
    },
}

#[derive(Debug, Clone)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    pub text: Text,
    /// Whether it says that something failed.
    pub is_failure: bool,
}

/// A time that the model asked for the text, or for some of its lines.
#[derive(Debug, Clone, Copy)]
pub struct AskedAgain {
    /// The first and the last line that it asked for; none if it named no lines.
    pub lines: Option<(u64, u64)>,
    pub request: Option<u64>,
    pub tokens: u64,
}

const FORGETTING: &str = "The text is removed from the store. Its reference will say that it was forgotten. This \
                          cannot be taken back.";

impl EntryPage {
    pub fn render(&self, shell: &Shell) -> String {
        let main = html! {
            (self.head(shell))
            @if let Some(figures) = &self.figures { (self.facts(figures)) }
            @if let Some(why) = &self.gone {
                section aria-label="Text" { div.panel.empty { p { strong { "The text is gone." } " " (why) } } }
            } @else {
                div.columns.wide-right.entry[!self.digest.is_empty()].single[self.digest.is_empty()] {
                    @if !self.digest.is_empty() { (self.digest(shell)) }
                    (self.whole(shell))
                }
            }
        };
        let keys: &[Key] = &[
            MOVE,
            Key { keys: &["o"], does: "fold, unfold" },
            Key { keys: &["z"], does: "unfold all" },
            Key { keys: &["l"], does: "go to line" },
            COPY,
        ];
        shell.document(&Content { page: Some(Page::Sessions), title: &self.title.plain(), keys, main })
    }

    fn head(&self, shell: &Shell) -> Markup {
        html! {
            div.head {
                div {
                    @if let Some(session) = &self.session {
                        ol.crumbs {
                            li { a href=(shell.session(&session.key)) { (session.title) } }
                            @if let Some(request) = session.request { li { "request " (count(request)) } }
                        }
                    }
                    h1 { @if self.is_code { code { (self.title) } } @else { (self.title) } }
                    div.meta {
                        (origin(&self.words))
                        span { @if let Some(source) = &self.source { (source) ", " } (self.at.show(shell.now)) }
                        span.ref data-copy={ "[ctx:" (self.reference.plain()) "]" } { "[ctx:" (self.reference) "]" }
                        @for badge in self.badges.iter().take(2) { (badge) }
                        @if self.is_pinned { span { "kept regardless of age" } }
                        @else if let Some(expires) = self.expires {
                            span { "kept until " (expires.day(shell.now)) ", longer if a note cites it" }
                        }
                    }
                }
                div.actions { (self.actions(shell)) }
            }
        }
    }

    fn actions(&self, shell: &Shell) -> Markup {
        html! {
            @if self.figures.is_some() {
                a.button href={ (shell.entry(&self.reference)) "/raw" } { "Raw text" }
                (forget(shell, &self.reference, FORGETTING))
            }
        }
    }

    fn facts(&self, figures: &Figures) -> Markup {
        let share =
            figures.digest_tokens.zip(figures.tokens).and_then(|(part, whole)| percent(part as f64, whole as f64));
        let mut list = vec![Fact { label: "Whole text", figure: figures.tokens.map(count), unit: "tokens".to_owned() }];
        if !self.digest.is_empty() {
            let unit = share.map_or_else(|| "tokens".to_owned(), |share| format!("tokens, {share}"));
            list.push(Fact { label: "Digest", figure: figures.digest_tokens.map(count), unit });
        }
        list.push(match figures.lines {
            Some(lines) => Fact {
                label: "Size",
                figure: Some(count(lines)),
                unit: format!("{}, {}", if lines == 1 { "line" } else { "lines" }, size(figures.bytes)),
            },
            None => Fact { label: "Size", figure: Some(size(figures.bytes)), unit: String::new() },
        });
        if !self.digest.is_empty() {
            list.push(self.asked_again());
        }
        let redacted = match figures.redactions {
            0 => ("nothing".to_owned(), "found"),
            number => (count(number), if number == 1 { "secret" } else { "secrets" }),
        };
        list.push(Fact { label: "Redacted", figure: Some(redacted.0), unit: redacted.1.to_owned() });
        facts(&list)
    }

    fn asked_again(&self) -> Fact {
        let label = "Asked for again";
        let Some(again) = &self.again else { return Fact { label, figure: None, unit: String::new() } };
        let tokens = again.iter().map(|asked| asked.tokens).fold(0, u64::saturating_add);
        match again.len() as u64 {
            0 => Fact { label, figure: Some("nothing".to_owned()), unit: String::new() },
            number => {
                let noun = if number == 1 { "answer" } else { "answers" };
                let unit = format!("{noun}, {}", counted(tokens, "token", "tokens"));
                Fact { label, figure: Some(count(number)), unit }
            }
        }
    }

    fn digest(&self, shell: &Shell) -> Markup {
        let on_page = self.lines_on_page();
        let path = shell.entry(&self.reference);
        let address = |at: u64| match on_page.contains(&at) {
            true => format!("#L{at}"),
            false => format!("{path}?lines={at}#L{at}"),
        };
        html! {
            section aria-labelledby="h-digest" {
                div.panel.code.digest {
                    div.tools { h2 #h-digest { "Digest" } span { "as a model gets it" } }
                    div.lines {
                        @for line in &self.digest {
                            @match line {
                                DigestLine::Headline(text) => div.l.headline { i {} code { (text) } },
                                DigestLine::Part(text) => p.part { (text) },
                                DigestLine::Line { at, text } => div.l {
                                    @match at {
                                        Some(at) => a href=(address(*at)) aria-label={ "to line " (at) } { (at) },
                                        None => i {},
                                    }
                                    code { (text) }
                                },
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns the lines that the page has, folded ones included.
    fn lines_on_page(&self) -> HashSet<u64> {
        let lines = self.text.iter().flat_map(|piece| match piece {
            Piece::Line(line) => std::slice::from_ref(line),
            Piece::Fold { lines, .. } => lines.as_slice(),
        });
        lines.map(|line| line.number).collect()
    }

    fn whole(&self, shell: &Shell) -> Markup {
        let path = shell.entry(&self.reference);
        let nothing = if self.asked_for.is_some() { "No line matches." } else { "The text is empty." };
        html! {
            section aria-labelledby="h-raw" {
                div.panel.code.as-is {
                    div.tools {
                        h2 #h-raw { "Text" }
                        a href={ (path) "?unfold=all" } data-key="z" { "Unfold all" }
                        label.check.only-wide { input.wrap type="checkbox"; "Wrap" }
                        form.go method="get" action=(path) {
                            label.sr for="go" { "Lines or pattern" }
                            input #go name="lines" type="text" placeholder="lines or /pattern/" data-key="l"
                                value=(self.asked_for.as_ref().map_or("", Text::raw));
                            button.button type="submit" { "Go" }
                        }
                    }
                    div.lines tabindex="0" role="region" aria-label="The whole text, with folds" {
                        @if self.text.is_empty() { p.part { (nothing) } }
                        @for piece in &self.text { (self.piece(piece, &path)) }
                    }
                }
                @for remark in &self.remarks { p.hint { (remark) } }
                @for asked in self.again.iter().flatten() {
                    p.hint {
                        span.key-asked {} " The model asked for "
                        @match asked.lines {
                            None => "the text",
                            Some((from, to)) if from == to => { "line " (count(from)) }
                            Some((from, to)) => { "lines " (range(from, to)) }
                        }
                        @if let Some(request) = asked.request { " at request " (count(request)) }
                        "."
                    }
                }
            }
        }
    }

    fn piece(&self, piece: &Piece, path: &str) -> Markup {
        match piece {
            Piece::Line(line) => self.line(line),
            Piece::Fold { from, to, what, lines } => html! {
                details.fold data-row {
                    summary { span {
                        b { @if from == to { "line " (count(*from)) } @else { "lines " (range(*from, *to)) } }
                        ", " (counted(to.saturating_sub(*from).saturating_add(1), "line", "lines"))
                        @if let Some(what) = what { ": " (what) }
                    } }
                    @if lines.is_empty() {
                        p.part { a href={ (path) "?lines=" (from) "-" (to) "#L" (from) } { "Show these lines" } }
                    }
                    @for line in lines { (self.line(line)) }
                }
            },
        }
    }

    fn line(&self, line: &Line) -> Markup {
        let is_in = |asked: &AskedAgain| asked.lines.is_some_and(|(from, to)| (from..=to).contains(&line.number));
        let is_asked = self.again.iter().flatten().any(is_in);
        html! {
            div.l.err[line.is_failure].asked[is_asked] id={ "L" (line.number) } data-row[line.is_failure]
                tabindex=[line.is_failure.then_some("-1")] {
                i { (line.number) } code { (line.text) }
            }
        }
    }
}

fn range(from: u64, to: u64) -> String {
    format!("{}–{}", count(from), count(to))
}
