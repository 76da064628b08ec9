//! How many answers are in the first answer, and how many within one more call, at which cost in tokens.
//!
//! Every way of showing an output gets the same outputs and the same questions. Nothing is left out of the count: what
//! stands around a text costs too.

mod clients;
mod contenders;
#[path = "../../crates/weir-digest/tests/it/oracle.rs"]
mod oracle;
pub(crate) mod set;
mod table;

use std::path::Path;

use clients::{ClientRule, HookContender, ProgramContender, RULES};
use contenders::{Contender, HeadAndTail, McpContender};
use set::{Output, Set};

pub(crate) struct ShownOutput {
    pub tokens: usize,
    pub found: Vec<bool>,
    /// For each question whose answer was not there, one more call: whether it was there then, and what it cost.
    pub followed: Vec<Option<(bool, usize)>>,
}

/// Measures, prints the tables and, if asked to, writes them into a document.
pub(crate) fn run(weir: &str, options: &[&str]) -> bool {
    let values =
        |name: &str| -> Vec<&str> { options.windows(2).filter(|pair| pair[0] == name).map(|pair| pair[1]).collect() };
    let half = values("--half").first().copied().unwrap_or("held_out");
    let name = values("--set").first().copied().unwrap_or("recall");
    let set = Set::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name).join(half));
    let project = set.project.path();
    let mut rows = Vec::new();
    let digest = measure(&mut McpContender::weir(weir, project, QuestionTiming::Get), &set);
    let ends = measure(&mut HeadAndTail::of(digest.iter().map(|shown| shown.tokens).collect()), &set);
    rows.push(("head and tail of the same size".to_owned(), ends));
    rows.push(("digest, then `ctx_get` with the question".to_owned(), digest));
    rows.push((
        "digest, then `ctx_search` with the question".to_owned(),
        measure(&mut McpContender::weir(weir, project, QuestionTiming::Search), &set),
    ));
    rows.push((
        "digest with the question as `intent`".to_owned(),
        measure(&mut McpContender::weir(weir, project, QuestionTiming::First), &set),
    ));
    if set.outputs.iter().all(|output| output.call.is_some()) {
        rows.push((
            "hook, with the arguments of the call".to_owned(),
            measure(&mut HookContender::new(weir, false), &set),
        ));
        rows.push((
            "hook, with the question among them".to_owned(),
            measure(&mut HookContender::new(weir, true), &set),
        ));
        rows.extend(RULES.map(|(name, rule)| (name.to_owned(), measure(&mut ClientRule(rule), &set))));
    }
    let last = |command: &str| command.rsplit('/').next().unwrap_or(command).to_owned();
    for peer in values("--peer") {
        for timing in [QuestionTiming::Search, QuestionTiming::First] {
            let name = format!("peer: {} {}", last(peer), timing.name());
            rows.push((name, measure(&mut McpContender::peer(peer, project, timing), &set)));
        }
    }
    for command in values("--program") {
        rows.push((format!("program: {}", last(command)), measure(&mut ProgramContender::new(command), &set)));
    }
    let text = table::write(half, &set, &rows);
    println!("{text}");
    let outputs = set.outputs.iter().map(|output| (output.name.clone(), output.raw.clone()));
    println!("{}", statements(outputs).1);
    if options.contains(&"--misses") {
        table::misses(&set, &rows[1].1, &rows[3].1);
    }
    let mark = format!("{name} {half}");
    values("--write").first().is_none_or(|path| table::put_into(Path::new(path), &mark, &text))
}

/// Checks the statements of the digests of all files below a folder.
pub(crate) fn statements_below(folder: &str) -> bool {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let outputs = paths.iter().map(|path| (path.display().to_string(), std::fs::read(path).unwrap()));
    let (count, text) = statements(outputs);
    println!("{} outputs; {text}", paths.len());
    count == 0
}

/// Counts the statements of digests that their outputs contradict, by class, and says how many they confirm.
fn statements(outputs: impl Iterator<Item = (String, Vec<u8>)>) -> (usize, String) {
    let (mut right, mut unchecked, mut wrong) = (0, 0, Vec::new());
    for (name, raw) in outputs {
        let page = weir_digest::read(&raw.as_slice(), weir_digest::About::default()).unwrap();
        let verdict = oracle::examine(&raw, &page);
        right += verdict.right;
        unchecked += verdict.unchecked;
        wrong.extend(verdict.wrong.into_iter().map(|why| format!("{why} ({name})")));
    }
    let count = wrong.len();
    let of_class = |class: &str| wrong.iter().filter(|why| why.split(':').next() == Some(class)).count();
    let classes = oracle::CLASSES.map(|class| format!("{class} {}", of_class(class))).join(", ");
    let text = format!("statements: {right} right, {unchecked} not checked, {count} wrong ({classes})");
    (count, [text].into_iter().chain(wrong).collect::<Vec<_>>().join("\n"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionTiming {
    /// With the first call, as its intent.
    First,
    Get,
    /// After it, of everything that is kept.
    Search,
}

impl QuestionTiming {
    fn name(self) -> &'static str {
        match self {
            Self::First => "with intent",
            Self::Get => "then get",
            Self::Search => "then search",
        }
    }
}

fn measure(contender: &mut dyn Contender, set: &Set) -> Vec<ShownOutput> {
    contender.prepare(set);
    set.outputs.iter().enumerate().map(|(place, output)| look(contender, place, output)).collect()
}

fn look(contender: &mut dyn Contender, place: usize, output: &Output) -> ShownOutput {
    let mut shown = ShownOutput { tokens: 0, found: Vec::new(), followed: Vec::new() };
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
