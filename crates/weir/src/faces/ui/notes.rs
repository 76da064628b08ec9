//! Notes: what was decided and learned, those first that need the user.

mod cards;
mod review;

use weir_pages::notes::{Counts, NoteCard, NoteFilter, Notes};
use weir_pages::{Paging, Text};

use super::view::View;
use crate::error::CommandError;
use review::{Review, ReviewedNote};

/// The number of notes of a page.
const PAGE_NOTES: usize = 25;
/// The maximum number of notes that a review shows besides those that need the user.
const MAX_OTHERS: usize = 10;

const FILTERS: [NoteFilter; 5] =
    [NoteFilter::Review, NoteFilter::Current, NoteFilter::Superseded, NoteFilter::NeverRead, NoteFilter::All];

pub(super) async fn page(mut view: View<'_>) -> Result<String, CommandError> {
    let word = view.fields.get("show").unwrap_or_default();
    let filter = FILTERS.into_iter().find(|filter| filter.word() == word).unwrap_or(NoteFilter::Review);
    let review = review::all(&view).await?;
    let counts = counts(&review);
    view.shell.notes_to_review = Some(counts.doubtful + counts.unconfirmed);
    let (mut chosen, pager) = choose(&view, &review, filter);
    let unread: Vec<&ReviewedNote> = match filter {
        NoteFilter::NeverRead => std::mem::take(&mut chosen),
        NoteFilter::Review => review.notes.iter().filter(|note| note.is_never_read()).take(MAX_OTHERS).collect(),
        NoteFilter::Current | NoteFilter::Superseded | NoteFilter::All => Vec::new(),
    };
    let never_read = cards::load(&view, &unread).await?.into_iter().map(|(_, card)| card).collect();
    let mut cards = cards::load(&view, &chosen).await?;
    let mut of = |holds: fn(&ReviewedNote) -> bool| -> Vec<NoteCard> {
        let all = std::mem::take(&mut cards).into_iter();
        let (those, rest): (Vec<_>, Vec<_>) = all.partition(|(note, _)| holds(note));
        cards = rest;
        those.into_iter().map(|(_, card)| card).collect()
    };
    let notes = Notes {
        counts,
        looked_at: review.looked_at,
        remarks: view.left_out().into_iter().chain(review.unread.iter().cloned()).map(Text::from).collect(),
        filter,
        doubtful: of(ReviewedNote::is_doubtful),
        unconfirmed: of(ReviewedNote::is_waiting),
        superseded: of(ReviewedNote::is_superseded),
        current: of(|_| true),
        never_read,
        pager,
    };
    Ok(notes.render(&view.shell))
}

fn counts(review: &Review) -> Counts {
    let count = |holds: fn(&ReviewedNote) -> bool| review.notes.iter().filter(|note| holds(note)).count() as u64;
    Counts {
        topics: review.topics(),
        doubtful: count(ReviewedNote::is_doubtful),
        unconfirmed: count(ReviewedNote::is_waiting),
        current: count(ReviewedNote::is_current),
        superseded: count(ReviewedNote::is_superseded),
        never_read: count(ReviewedNote::is_never_read),
    }
}

/// Returns the notes of the page that is asked for, and where it is among the others.
fn choose<'a>(view: &View<'_>, review: &'a Review, filter: NoteFilter) -> (Vec<&'a ReviewedNote>, Paging) {
    let all = |holds: fn(&ReviewedNote) -> bool| review.notes.iter().filter(move |note| holds(note));
    let wanted: Vec<&ReviewedNote> = match filter {
        NoteFilter::Review => {
            let need_user = all(ReviewedNote::is_doubtful).take(PAGE_NOTES);
            let need_user = need_user.chain(all(ReviewedNote::is_waiting).take(PAGE_NOTES));
            let shown = need_user.chain(all(ReviewedNote::is_current).take(MAX_OTHERS)).collect();
            return (shown, Paging { page: 1, size: PAGE_NOTES as u64, total: 0 });
        }
        NoteFilter::Current => all(ReviewedNote::is_current).collect(),
        NoteFilter::Superseded => all(ReviewedNote::is_superseded).collect(),
        NoteFilter::NeverRead => all(ReviewedNote::is_never_read).collect(),
        NoteFilter::All => {
            let first = all(ReviewedNote::is_doubtful).chain(all(ReviewedNote::is_waiting));
            first.chain(all(ReviewedNote::is_current)).chain(all(ReviewedNote::is_superseded)).collect()
        }
    };
    let (size, total) = (PAGE_NOTES as u64, wanted.len() as u64);
    let page = view.fields.number("page").unwrap_or(1).clamp(1, total.div_ceil(size).max(1));
    let first = (page as usize - 1) * PAGE_NOTES;
    (wanted.into_iter().skip(first).take(PAGE_NOTES).collect(), Paging { page, size, total })
}
