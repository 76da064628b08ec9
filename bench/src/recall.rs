//! Measures how many answers are in the first response, and how many within one more call, and the cost in tokens.
//!
//! Every contender gets the same outputs and the same questions. All tokens count, including those around a text.

mod clients;
mod contenders;
#[path = "../../crates/weir-digest/tests/it/oracle.rs"]
mod oracle;
pub(crate) mod set;
mod table;

use std::path::Path;

use clients::{Cut, Hook, Program, RULES};
use contenders::{Contender, Ends, Mcp};
use set::{Output, Set};

/// What one contender showed of one output.
pub(crate) struct Shown {
    /// The tokens of the first response.
    pub tokens: usize,
    /// For each question, whether its answer was there.
    pub found: Vec<bool>,
    /// For each question whose answer was missing, one more call: whether it had the answer, and its tokens.
    pub followed: Vec<Option<(bool, usize)>>,
}

/// Measures, prints the tables and optionally writes them into a document.
pub(crate) fn run(weir: &str, options: &[&str]) -> bool {
    let values =
        |name: &str| -> Vec<&str> { options.windows(2).filter(|pair| pair[0] == name).map(|pair| pair[1]).collect() };
    let half = values("--half").first().copied().unwrap_or("held_out");
    let name = values("--set").first().copied().unwrap_or("recall");
    let set = Set::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name).join(half));
    let project = set.project.path();
    let mut rows = Vec::new();
    let digest = measure(&mut Mcp::weir(weir, project, Ask::Get), &set);
    let ends = measure(&mut Ends::of(digest.iter().map(|shown| shown.tokens).collect()), &set);
    rows.push(("head and tail of the same size".to_owned(), ends));
    rows.push(("digest, then `ctx_get` with the question".to_owned(), digest));
    rows.push((
        "digest, then `ctx_search` with the question".to_owned(),
        measure(&mut Mcp::weir(weir, project, Ask::Search), &set),
    ));
    rows.push((
        "digest with the question as `intent`".to_owned(),
        measure(&mut Mcp::weir(weir, project, Ask::First), &set),
    ));
    if set.outputs.iter().all(|output| output.call.is_some()) {
        rows.push(("hook, with the arguments of the call".to_owned(), measure(&mut Hook::new(weir, false), &set)));
        rows.push(("hook, with the question among them".to_owned(), measure(&mut Hook::new(weir, true), &set)));
        rows.extend(RULES.map(|(name, rule)| (name.to_owned(), measure(&mut Cut(rule), &set))));
    }
    let last = |command: &str| command.rsplit('/').next().unwrap_or(command).to_owned();
    for peer in values("--peer") {
        for ask in [Ask::Search, Ask::First] {
            let name = format!("peer: {} {}", last(peer), ask.name());
            rows.push((name, measure(&mut Mcp::peer(peer, project, ask), &set)));
        }
    }
    for command in values("--program") {
        rows.push((format!("program: {}", last(command)), measure(&mut Program::new(command), &set)));
    }
    let text = table::write(half, &set, &rows);
    println!("{text}");
    println!("{}", statements(&set));
    if options.contains(&"--misses") {
        table::misses(&set, &rows[1].1, &rows[3].1);
    }
    let mark = format!("{name} {half}");
    values("--write").first().is_none_or(|path| table::put_into(Path::new(path), &mark, &text))
}

/// Returns how many statements of the digests their outputs confirm, and which ones they contradict.
fn statements(set: &Set) -> String {
    let (mut right, mut unchecked, mut wrong) = (0, 0, Vec::new());
    for output in &set.outputs {
        let page = weir_digest::read(&output.raw.as_slice(), weir_digest::About::default()).unwrap();
        let verdict = oracle::examine(&output.raw, &page);
        right += verdict.right;
        unchecked += verdict.unchecked;
        wrong.extend(verdict.wrong.into_iter().map(|why| format!("{}: {why}", output.name)));
    }
    let count = wrong.len();
    format!("statements: {right} right, {unchecked} not checked, {count} wrong\n{}", wrong.join("\n"))
}

/// When a question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// With the first call, as its intent.
    First,
    /// After it, about the output.
    Get,
    /// After it, about everything that is stored.
    Search,
}

impl Ask {
    fn name(self) -> &'static str {
        match self {
            Self::First => "with intent",
            Self::Get => "then get",
            Self::Search => "then search",
        }
    }
}

fn measure(contender: &mut dyn Contender, set: &Set) -> Vec<Shown> {
    contender.prepare(set);
    set.outputs.iter().enumerate().map(|(place, output)| look(contender, place, output)).collect()
}

fn look(contender: &mut dyn Contender, place: usize, output: &Output) -> Shown {
    let mut shown = Shown { tokens: 0, found: Vec::new(), followed: Vec::new() };
    for question in &output.questions {
        let first = contender.first(place, output, &question.ask);
        shown.tokens = shown.tokens.max(weir_tokens::count(&first));
        let found = question.is_answered_by(&first);
        shown.found.push(found);
        let second = if found { None } else { contender.second(place, &question.ask) };
        shown.followed.push(second.map(|text| (question.is_answered_by(&text), weir_tokens::count(&text))));
    }
    shown
}
