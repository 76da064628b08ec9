//! Fetches pages and stores them. Invariants: an address that the user's rules deny is not requested, not even by a
//! redirect; each address has one stored page; what is shown is the stored text, with secrets redacted.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use weir_context::permission;
use weir_context::{Context, LockedStores, cancelled};
use weir_core::{Entry, EntryKind, Level, NewEntry, Origin, Scope};
use weir_fetch::{FetchError, Fetched, Fetcher, Limits, Page, Request, Settings, Url};
use weir_host::error::{CommandError, ErrorKind};
use weir_store::{BlobReader, Found, Kept, NewPage, PageState, Validators};

/// How many pages are fetched concurrently.
const MAX_CONCURRENT_FETCHES: usize = 4;

pub struct FetchRequest {
    pub urls: Vec<String>,
    /// The name under which the pages can be found, before their addresses.
    pub label: Option<String>,
    /// Whether to request pages even if they were fetched recently.
    pub fresh: bool,
}

pub struct FetchOutcome {
    pub url: String,
    /// The page, or why it is missing.
    pub result: Result<StoredPage, CommandError>,
}

pub struct StoredPage {
    pub entry: Entry,
    pub text: BlobReader,
    pub how: PageOrigin,
}

pub enum PageOrigin {
    /// Over the network.
    Fetched {
        form: &'static str,
        redirects: u8,
        /// Remarks on what was cut or changed.
        notes: Vec<String>,
    },
    /// The server confirmed that the stored page is current.
    Unchanged,
    /// The stored page was fetched or checked this long ago.
    Kept(Duration),
}

/// The tool that fetches pages.
pub const TOOL: &str = "ctx_fetch_and_index";

/// Fetches pages, some at once. The outcomes are in the order of the addresses.
pub async fn fetch(context: &Context, order: FetchRequest) -> Result<Vec<FetchOutcome>, CommandError> {
    let planned = plan(context, &order).await?;
    let hosts: Vec<&str> = planned.iter().flat_map(|plan| &plan.url).filter_map(|url| url.host_str()).collect();
    let denied = permission::denied_hosts(context, TOOL, &hosts).await;
    let came = request_pages(context, &planned, denied).await?;
    let (scope, label) = (context.scope(), order.label);
    let work = move |open: &mut LockedStores<'_>| {
        let store = |(plan, came)| store_page(open, &scope, plan, came, label.as_deref());
        Ok(planned.into_iter().zip(came).map(store).collect())
    };
    context.with_stores(work).await
}

/// What is known about an address before it is requested.
struct PlannedFetch {
    given: String,
    url: Result<Url, FetchError>,
    known: Option<PageState>,
    is_fresh: bool,
    asks_again: bool,
}

/// Looks up the pages that are already stored.
async fn plan(context: &Context, order: &FetchRequest) -> Result<Vec<PlannedFetch>, CommandError> {
    let (urls, fresh) = (order.urls.clone(), order.fresh);
    let (scope, keeps) = (context.scope(), context.config().fetch.ttl);
    let work = move |open: &mut LockedStores<'_>| {
        let now = open.now;
        let mut planned = Vec::with_capacity(urls.len());
        for given in urls {
            let url = weir_fetch::parse(&given);
            let known = match &url {
                Ok(url) => open.project()?.page(&scope, url.as_str())?,
                Err(_) => None,
            };
            let age = known.as_ref().map(|page| age(now, page));
            let is_fresh = age.is_some_and(|age| age < keeps) && !fresh;
            planned.push(PlannedFetch { given, url, known, is_fresh, asks_again: fresh });
        }
        Ok(planned)
    };
    context.with_stores(work).await
}

fn age(now: weir_core::Timestamp, page: &PageState) -> Duration {
    Duration::from_millis(u64::try_from(now.0 - page.checked_at.0).unwrap_or_default())
}

type FetchResult = Option<Result<Fetched, FetchError>>;

/// Requests the pages from their servers where needed. Returns `None` for pages that are fresh.
async fn request_pages(
    context: &Context,
    planned: &[PlannedFetch],
    denied: Vec<String>,
) -> Result<Vec<FetchResult>, CommandError> {
    let mut came: Vec<FetchResult> = Vec::with_capacity(planned.len());
    let mut wanted = Vec::new();
    for (place, plan) in planned.iter().enumerate() {
        match &plan.url {
            Err(error) => came.push(Some(Err(error.clone()))),
            Ok(_) if plan.is_fresh => came.push(None),
            Ok(url) => {
                came.push(None);
                let validators = plan.known.as_ref().filter(|_| !plan.asks_again).map(|page| page.validators.clone());
                let Validators { etag, last_modified } = validators.unwrap_or_default();
                wanted.push((place, Request { url: url.to_string(), etag, last_modified }));
            }
        }
    }
    if wanted.is_empty() {
        return Ok(came);
    }
    let settings = settings(context, denied)?;
    let broken = |error: tokio::task::JoinError| CommandError::broken(&format!("a fetch failed: {error}"));
    // Creating a fetcher reads the machine's trusted certificates.
    let fetcher = tokio::task::spawn_blocking(move || Fetcher::new(settings)).await.map_err(broken)?;
    let (fetcher, slots) = (Arc::new(fetcher), Arc::new(Semaphore::new(MAX_CONCURRENT_FETCHES)));
    let mut tasks = JoinSet::new();
    for (place, request) in wanted {
        let (fetcher, slots) = (Arc::clone(&fetcher), Arc::clone(&slots));
        tasks.spawn(async move {
            let _slot = slots.acquire_owned().await;
            let fetched = tokio::task::spawn_blocking(move || weir_fetch::fetch(&request, &fetcher)).await;
            (place, fetched)
        });
    }
    loop {
        let next = tokio::select! {
            next = tasks.join_next() => next,
            // Threads that wait for a server end at their timeout; nothing waits for them.
            () = context.cancelled().cancelled() => return Err(cancelled()),
        };
        let Some(next) = next else { return Ok(came) };
        let (place, fetched) = next.map_err(broken)?;
        if let Some(slot) = came.get_mut(place) {
            *slot = Some(fetched.map_err(broken)?);
        }
    }
}

fn settings(context: &Context, denied: Vec<String>) -> Result<Settings, CommandError> {
    let fetch = &context.config().fetch;
    let unreadable = |error: weir_fetch::PatternError| {
        CommandError::new(ErrorKind::Denied, format!("cannot read a WebFetch rule: {error}"))
            .hint("nothing was fetched; the rule has to be fixed first")
    };
    Ok(Settings {
        limits: Limits { bytes: fetch.bytes, received: fetch.bytes, time: fetch.timeout, ..Limits::default() },
        guard: fetch.allow.guard.clone().denying(&denied).map_err(unreadable)?,
        proxies: context.env().proxies(),
        ..Settings::default()
    })
}

fn store_page(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    plan: PlannedFetch,
    came: FetchResult,
    label: Option<&str>,
) -> FetchOutcome {
    let url = plan.url.as_ref().map(Url::to_string).unwrap_or_default();
    let result = match (came, plan.known) {
        (Some(Err(error)), _) => Err(command_error(&error)),
        (Some(Ok(Fetched::Page(page))), _) => keep(open, scope, &url, *page, label),
        (Some(Ok(Fetched::Unchanged)), Some(known)) => unchanged(open, scope, &url, &known),
        (None, Some(known)) => {
            let age = age(open.now, &known);
            find(open, scope, &known, PageOrigin::Kept(age))
        }
        (_, None) => Err(CommandError::broken("a page that is not stored cannot be unchanged")),
    };
    let result = result.map_err(|error| error.in_store(open.folder(Level::Project)));
    FetchOutcome { url: plan.given, result }
}

fn keep(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    url: &str,
    page: Page,
    label: Option<&str>,
) -> Result<StoredPage, CommandError> {
    let now = open.now;
    let source = match label {
        Some(label) => format!("{label}/{}", page.url),
        None => page.url,
    };
    let entry = NewEntry {
        source: Some(source),
        text: page.text.into_bytes(),
        ..NewEntry::new(EntryKind::Page, Origin::Web, Level::Project, page.title)
    };
    let validators = Validators { etag: page.etag, last_modified: page.last_modified };
    let kept = open.project()?.keep_page(scope, NewPage { url, entry, validators: &validators }, now)?;
    let mut notes = page.notes;
    notes.extend(remarks(&kept));
    let how = PageOrigin::Fetched { form: page.form.as_str(), redirects: page.redirects, notes };
    let state = PageState { reference: kept.reference, validators, checked_at: now };
    find(open, scope, &state, how)
}

fn remarks(kept: &Kept) -> Vec<String> {
    let mut remarks = Vec::new();
    if !kept.redactions.is_empty() {
        let names: Vec<&str> = kept.redactions.iter().map(|(name, _)| *name).collect();
        remarks.push(format!("redacted before storing: {}", names.join(", ")));
    }
    if let Some(error) = &kept.unfinished {
        remarks.push(format!("kept, but may not be searchable yet: {error}"));
    }
    remarks
}

fn unchanged(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    url: &str,
    known: &PageState,
) -> Result<StoredPage, CommandError> {
    let now = open.now;
    open.project()?.page_is_unchanged(scope, url, now)?;
    find(open, scope, known, PageOrigin::Unchanged)
}

fn find(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    page: &PageState,
    how: PageOrigin,
) -> Result<StoredPage, CommandError> {
    let now = open.now;
    let store = open.project()?;
    let gone = || CommandError::broken("the stored page is gone");
    match store.get(scope, page.reference, now)? {
        Found::Here(entry) => {
            let text = store.text(scope, page.reference)?.ok_or_else(gone)?;
            Ok(StoredPage { entry: *entry, text, how })
        }
        _ => Err(gone()),
    }
}

fn command_error(error: &FetchError) -> CommandError {
    let kind = match error {
        FetchError::Url { .. } | FetchError::Scheme { .. } | FetchError::Credentials => ErrorKind::Usage,
        FetchError::Private { .. } | FetchError::Denied { .. } | FetchError::Downgrade { .. } => ErrorKind::Denied,
        FetchError::Status { status: 404 | 410, .. } | FetchError::NoSuchHost { .. } | FetchError::Empty { .. } => {
            ErrorKind::NotFound
        }
        _ => ErrorKind::Failed,
    };
    CommandError::new(kind, error.to_string()).hint(error.hint())
}
