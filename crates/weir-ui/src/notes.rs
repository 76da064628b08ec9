//! Notes: what was decided and learned, those first that need the user.

mod cards;
mod review;

use std::cmp::Reverse;

use weir_core::{Reference, Timestamp};
use weir_host::error::CommandError;
use weir_pages::Text;
use weir_pages::notes::{Counts, NoteCard, NoteFilter, Notes};

use super::view::View;
use review::{Review, ReviewedNote};

const PAGE_NOTES: usize = 25;
/// The maximum number of notes that a review shows besides those that need the user.
const MAX_OTHERS: usize = 10;

/// The place of a note in a list: the number of its group, its time, and its reference.
type NotePlace = (u8, Reverse<Timestamp>, Reference);

const FILTERS: [NoteFilter; 5] =
    [NoteFilter::Review, NoteFilter::Current, NoteFilter::Superseded, NoteFilter::NeverRead, NoteFilter::All];

pub(super) async fn page(mut view: View<'_>) -> Result<String, CommandError> {
    let word = view.fields.get("show").unwrap_or_default();
    let filter = FILTERS.into_iter().find(|filter| filter.word() == word).unwrap_or(NoteFilter::Review);
    let review = review::all(&view).await?;
    let counts = counts(&review);
    view.shell.notes_to_review = Some(counts.doubtful + counts.unconfirmed);
    let after = view.fields.get("after").and_then(place_of);
    let NotePage { notes: mut chosen, is_first, next } = choose(&review, filter, after);
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
        is_first,
        next: next.map(Into::into),
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

struct NotePage<'a> {
    notes: Vec<&'a ReviewedNote>,
    is_first: bool,
    /// The place of the last note, if others follow.
    next: Option<String>,
}

/// Returns the notes after a place. A note that is kept or removed in the meantime moves no other to another page.
fn choose(review: &Review, filter: NoteFilter, after: Option<NotePlace>) -> NotePage<'_> {
    let group = |number: u8, holds: fn(&ReviewedNote) -> bool| {
        let notes = review.notes.iter().filter(move |note| holds(note));
        notes.map(move |note| ((number, Reverse(note.entry.at), note.entry.reference), note))
    };
    let wanted: Vec<(NotePlace, &ReviewedNote)> = match filter {
        NoteFilter::Review => {
            let need_user = group(0, ReviewedNote::is_doubtful).take(PAGE_NOTES);
            let need_user = need_user.chain(group(1, ReviewedNote::is_waiting).take(PAGE_NOTES));
            let shown = need_user.chain(group(2, ReviewedNote::is_current).take(MAX_OTHERS));
            return NotePage { notes: shown.map(|(_, note)| note).collect(), is_first: true, next: None };
        }
        NoteFilter::Current => group(0, ReviewedNote::is_current).collect(),
        NoteFilter::Superseded => group(0, ReviewedNote::is_superseded).collect(),
        NoteFilter::NeverRead => group(0, ReviewedNote::is_never_read).collect(),
        NoteFilter::All => {
            let first = group(0, ReviewedNote::is_doubtful).chain(group(1, ReviewedNote::is_waiting));
            first.chain(group(2, ReviewedNote::is_current)).chain(group(3, ReviewedNote::is_superseded)).collect()
        }
    };
    let begin = after.map_or(0, |after| wanted.partition_point(|(place, _)| *place <= after));
    // After a place with nothing behind it, the list begins again.
    let begin = if begin < wanted.len() { begin } else { 0 };
    let page = &wanted[begin..wanted.len().min(begin + PAGE_NOTES)];
    let next = page.last().filter(|_| begin + page.len() < wanted.len()).map(|(place, _)| place_text(place));
    NotePage { notes: page.iter().map(|(_, note)| *note).collect(), is_first: begin == 0, next }
}

/// Returns a place of a list as an address has it.
fn place_text((group, Reverse(at), reference): &NotePlace) -> String {
    format!("{group}~{}~{}", at.0, reference.as_str())
}

fn place_of(text: &str) -> Option<NotePlace> {
    let (group, rest) = text.split_once('~')?;
    let (at, reference) = rest.split_once('~')?;
    Some((group.parse().ok()?, Reverse(Timestamp(at.parse().ok()?)), Reference::parse(reference).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let place = (2, Reverse(Timestamp(-5)), Reference::parse("k7f2m9q4xz").unwrap());
        assert_eq!(place_of(&place_text(&place)), Some(place));
        for text in ["", "2", "2~5", "2~5~", "x~5~k7f2m9q4xz"] {
            assert_eq!(place_of(text), None, "{text}");
        }
    }

    #[test]
    fn places_are_in_the_order_of_the_list() {
        let [one, other] = ["k7f2m9q4xz", "zyjr7j9p4e"].map(|text| Reference::parse(text).unwrap());
        let place = |group, at, reference| (group, Reverse(Timestamp(at)), reference);
        let places = [place(0, 9, one), place(0, 5, one), place(0, 5, other), place(1, 7, one)];
        assert!(places.is_sorted());
    }
}
