//! `ctx_fetch_and_index`: fetches pages into the store, and shows their beginnings.

use schemars::JsonSchema;
use serde::Serialize;
use weir_context::Context;
use weir_core::{Origin, Reference};
use weir_host::answer::{Answer, Budget, counted, fence, headline, one_line};
use weir_host::choice::Choice;
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_knowledge::fetching::{self, FetchOutcome, FetchRequest, PageOrigin, StoredPage};

use super::{Declared, Effect};
use crate::schema::silent;

/// The default budget of an answer, in tokens.
const DEFAULT_BUDGET: u32 = 1_500;
/// The maximum number of addresses. More belong in a script.
const MAX_URLS: usize = 20;
/// With fewer tokens than this, the beginning of a page is left out.
const MIN_SHARE_TOKENS: usize = 40;
/// How many bytes of a page are read to show its beginning.
const MAX_BEGINNING_BYTES: u64 = 128 << 10;

/// Fetch web pages, show their beginning, and index them for ctx_search.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Fetch {
    /// Pages to fetch
    #[schemars(transform = silent)]
    #[arg(value_name = "URL", required = true)]
    urls: Vec<String>,
    /// Label to search by [default: the URL]
    #[schemars(transform = silent)]
    #[arg(long)]
    #[serde(default)]
    source: Option<String>,
    /// Refetch even if the stored copy is recent
    #[schemars(transform = silent)]
    #[arg(long)]
    #[serde(default)]
    fresh: bool,
    /// Maximum tokens in the answer
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    #[serde(default = "super::fixed::<DEFAULT_BUDGET>")]
    budget: u32,
}

impl Declared for Fetch {
    type Context = Context;
    type Data = FetchData;

    const TOOL: &'static str = fetching::TOOL;
    const COMMAND: Option<&'static str> = Some("fetch");
    const EFFECT: Effect = Effect::Adds;
    const ABOUT: Option<&'static str> = Some("Fetch web pages, show their beginning, and index them for `weir search`");
    const EXAMPLES: &'static str = "\
Examples:
  weir fetch https://docs.example.com/guide
  weir fetch https://example.com/a https://example.com/b --source example
  weir search 'how to configure retries' --source example
  weir fetch https://example.com/changelog --fresh

HTML is converted to Markdown without menus; JSON, feeds and text keep their structure. Hosts on this machine and in \
private networks are refused unless `[fetch]` in the configuration allows them. Exits with 3 if a page could not be \
fetched; the others are stored.";

    async fn run(self, context: &Context) -> Result<Answer<FetchData>, CommandError> {
        let mut urls: Vec<String> = Vec::new();
        for url in self.urls.iter().map(|url| url.trim()).filter(|url| !url.is_empty()) {
            if !urls.iter().any(|known| known == url) {
                urls.push(url.to_owned());
            }
        }
        if urls.is_empty() || urls.len() > MAX_URLS {
            return Err(CommandError::usage(format!("cannot fetch {} pages at once", urls.len()))
                .hint(format!("pass 1 to {MAX_URLS} {}", context.face().word("addresses", "in `urls`"))));
        }
        let label = self.source.map(|label| label.trim().trim_end_matches('/').to_owned()).filter(|it| !it.is_empty());
        let budget = Budget::new(self.budget);
        let order = FetchRequest { urls, label: label.clone(), fresh: self.fresh };
        let mut outcomes = fetching::fetch(context, order).await?;
        // A single page that could not be fetched is an error like any other.
        if let [FetchOutcome { result: Err(_), .. }] = outcomes.as_slice()
            && let Some(FetchOutcome { result: Err(error), .. }) = outcomes.pop()
        {
            return Err(error);
        }
        describe(&outcomes, label.as_deref(), budget, context.face())
    }
}

/// The pages, in the order of their addresses.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FetchData {
    pages: Vec<PageData>,
}

/// One address.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum PageData {
    /// The page is stored.
    Stored {
        url: String,
        reference: String,
        title: String,
        source: Option<String>,
        origin: Choice<Origin>,
        bytes: u64,
        tokens: usize,
        /// How it came: fetched, unchanged, or stored before.
        came: String,
        notes: Vec<String>,
    },
    /// The page could not be fetched.
    Failed { url: String, error: String, hints: Vec<String> },
}

fn describe(
    outcomes: &[FetchOutcome],
    label: Option<&str>,
    budget: Budget,
    face: Face,
) -> Result<Answer<FetchData>, CommandError> {
    let mut views = Vec::with_capacity(outcomes.len());
    let mut pages = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        let (view, data) = AddressView::of(outcome, face)?;
        views.push(view);
        pages.push(data);
    }
    let came = outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
    let by = match (came, label) {
        (0, _) => None,
        (_, Some(label)) => Some(face.option_with_text("source", &one_line(label, 80))),
        (1, None) => Some(face.word("its URL as --source", "its URL as source").to_owned()),
        (_, None) => Some(face.word("--kind page", "kind `page`").to_owned()),
    };
    let foot = by.map(|by| format!("search: {} with {by}; read more: {}", face.search(), face.get()));
    let text = fit(&views, &foot.unwrap_or_default(), budget, face);
    let data = FetchData { pages };
    let is_whole = came == outcomes.len();
    Ok(if is_whole { Answer::new(text, data) } else { Answer::nothing(text, data) })
}

struct AddressView {
    /// The heading, in our words.
    head: String,
    /// The beginning of the page.
    beginning: Option<(Reference, String)>,
}

impl AddressView {
    fn of(outcome: &FetchOutcome, face: Face) -> Result<(Self, PageData), CommandError> {
        match &outcome.result {
            Ok(got) => Self::of_page(&outcome.url, got, face),
            Err(error) => {
                let hint = error.hints.first().map(|hint| format!("; {hint}")).unwrap_or_default();
                let head = format!("{}: {}{hint}", one_line(&outcome.url, 200), error.message);
                let (url, error, hints) = (outcome.url.clone(), error.message.clone(), error.hints.clone());
                Ok((Self { head, beginning: None }, PageData::Failed { url, error, hints }))
            }
        }
    }

    fn of_page(url: &str, got: &StoredPage, face: Face) -> Result<(Self, PageData), CommandError> {
        let text = got.text.all()?;
        let tokens = weir_tokens::count(&String::from_utf8_lossy(&text));
        let (shown, notes) = how(&got.how, face);
        let mut head = format!("{}, {tokens} tokens, {shown}", headline(&got.entry));
        notes.iter().for_each(|note| head.push_str(&format!("\nnote: {note}")));
        let end = text.len().min(MAX_BEGINNING_BYTES as usize);
        let beginning = String::from_utf8_lossy(text.get(..end).unwrap_or_default()).into_owned();
        // The title is the page's own text, so it belongs inside the fence.
        let title = one_line(&got.entry.title, 200);
        let known = beginning.lines().take(5).any(|line| line.trim_start_matches(['#', ' ']) == title);
        let beginning = if known { beginning } else { format!("title: {title}\n\n{beginning}") };
        let data = PageData::Stored {
            url: url.to_owned(),
            reference: got.entry.reference.to_string(),
            title: got.entry.title.clone(),
            source: got.entry.source.clone(),
            origin: Choice(got.entry.origin),
            bytes: got.entry.bytes,
            tokens,
            // Programs pass arguments as tools take them.
            came: how(&got.how, Face::Mcp).0,
            notes: notes.to_vec(),
        };
        Ok((Self { head, beginning: Some((got.entry.reference, beginning)) }, data))
    }

    /// Renders the page within a number of tokens.
    fn within(&self, tokens: usize) -> String {
        let Some((reference, text)) = &self.beginning else { return self.head.clone() };
        let least = format!("{}\n{}", self.head, fence(*reference, ""));
        let left = tokens.saturating_sub(weir_tokens::count(&least) + 8);
        if left < MIN_SHARE_TOKENS {
            return self.head.clone();
        }
        let whole = text.trim_end();
        let end = weir_tokens::fit(whole, left);
        let shown = whole.get(..end).unwrap_or_default();
        if end == whole.len() {
            return format!("{}\n{}", self.head, fence(*reference, shown));
        }
        // A line that is cut in the middle could be misleading.
        let shown = shown.rfind('\n').filter(|at| *at > end / 2).map_or(shown, |at| shown.get(..at).unwrap_or(shown));
        format!("{}\n{}\nbeginning only", self.head, fence(*reference, shown))
    }
}

fn how(how: &PageOrigin, face: Face) -> (String, &[String]) {
    match how {
        PageOrigin::Unchanged => ("unchanged since it was fetched".to_owned(), &[]),
        PageOrigin::Kept(age) => {
            (format!("fetched or checked {} ago; {} refetches", in_words(age.as_secs()), face.option("fresh")), &[])
        }
        PageOrigin::Fetched { form, redirects, notes } => {
            let sent_on = match redirects {
                0 => String::new(),
                more => format!(", {}", counted(usize::from(*more), "redirect", "redirects")),
            };
            (format!("fetched as {form}{sent_on}"), notes)
        }
    }
}

fn in_words(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

/// Divides the budget: what one page does not need is left for the others.
fn fit(pages: &[AddressView], foot: &str, budget: Budget, face: Face) -> String {
    let mut share = budget.tokens().saturating_sub(weir_tokens::count(foot) + 1);
    loop {
        let mut left = share;
        let mut parts = Vec::with_capacity(pages.len() + 1);
        for (place, page) in pages.iter().enumerate() {
            let text = page.within(left / (pages.len() - place));
            left = left.saturating_sub(weir_tokens::count(&text) + 1);
            parts.push(text);
        }
        let shown = parts.len();
        parts.push(foot.to_owned());
        let text = parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n");
        if weir_tokens::count(&text) <= budget.tokens() || share == 0 {
            return if share == 0 { heads(pages, shown, budget, face) } else { text };
        }
        share = share.saturating_sub(share / 8 + 8);
    }
}

/// Returns the headings only, as many as fit.
fn heads(pages: &[AddressView], shown: usize, budget: Budget, face: Face) -> String {
    let heads: Vec<String> = pages.iter().map(|page| page.head.clone()).collect();
    let (text, _) = weir_host::answer::fit_items("", &heads, budget, |fits| match shown - fits {
        0 => String::new(),
        left => format!("{left} more: raise {}", face.option("budget")),
    });
    text
}
