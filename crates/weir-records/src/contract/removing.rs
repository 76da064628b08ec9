//! Properties of importing and removing.

use weir_core::WhyGone::Forgotten;

use super::*;
use crate::{Body, Left, LogicalTime, Position, RecordId, Sender, TextKey};

fn text_key(record: &Record) -> TextKey {
    record.body.kept().unwrap().text
}

fn assert_gone(shelf: &Shelf, reader: &Scope, record: &Record, word: &str) {
    let ports = shelf.ports();
    assert_eq!(found(shelf, reader, word), []);
    assert_eq!(shelf.get(reader, record.id).unwrap(), None);
    assert_eq!(shelf.text(reader, record.id).unwrap(), None);
    assert_eq!(ports.log.records(reader, &[record.id]).unwrap(), []);
    let reference = record.body.kept().unwrap().reference;
    assert_eq!(ports.log.named(reader, reference, 10).unwrap(), []);
    assert_eq!(ports.log.text_uses(reader, &text_key(record)).unwrap(), 0);
    assert_eq!(ports.blobs.get(reader, &text_key(record)).unwrap(), None);
    assert_eq!(ports.index.holds(reader, &[record.id]).unwrap(), 0);
    let log = ports.log.read_since(reader, Position(0), 1_000, crate::Readers::Index).unwrap();
    assert!(log.records.iter().all(|stored| stored.record.id != record.id));
}

/// Records are taken in once, with their texts. One that is refused does not fail the others.
pub fn import_takes_the_good_and_names_the_bad(new: NewShelf<'_>) {
    let (from, to) = (new(), new());
    let good = keep(&from, &ana(), "good");
    let late = keep(&from, &ana(), "late");
    let far = LogicalTime { millis: i64::MAX, count: 0 };
    let batch = [
        incoming(&from, &ana(), &good),
        Incoming::new(
            Record { author: crate::Author { user: ben().user, client: String::new() }, ..late.clone() },
            None,
        ),
        Incoming::new(Record { project: ProjectKey("web".into()), ..late.clone() }, Some(b"late".to_vec())),
        Incoming::new(Record { time: far, ..late.clone() }, Some(b"late".to_vec())),
        Incoming::new(Record { time: LogicalTime::ZERO, ..good.clone() }, Some(b"good".to_vec())),
        incoming(&from, &ana(), &late),
    ];
    for _ in 0..2 {
        let results = to.import(&ana(), &batch, &Sender::Author, NOW);
        let kinds: Vec<_> = results.into_iter().map(|result| result.map_err(|error| error.kind)).collect();
        let expected = [
            Ok(Position(1)),
            Err(ErrorKind::NotAuthor),
            Err(ErrorKind::OutOfScope),
            Err(ErrorKind::Invalid),
            Err(ErrorKind::Conflict),
            Ok(Position(2)),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(found(&to, &ben(), "good late").len(), 2);
    }
    // A server's log hands over what others wrote, and what comes later is later.
    let theirs = keep(&from, &ben(), "theirs");
    let results = to.import(&ana(), &[incoming(&from, &ben(), &theirs)], &Sender::Log, NOW);
    assert!(results[0].is_ok(), "{results:?}");
    assert!(keep(&to, &ana(), "after").time > theirs.time);
}

/// A record without its text is refused, even if the tenant has that text: knowing the key is not having the text.
pub fn a_key_alone_does_not_give_a_text(new: NewShelf<'_>) {
    let (shelf, other) = (new(), new());
    let elsewhere = scope("acme", "eve", "web");
    let secret = keep(&shelf, &ana(), "the plan");
    let bait = keep(&other, &elsewhere, "bait");
    let mut kept = bait.body.kept().unwrap().clone();
    (kept.text, kept.bytes) = (text_key(&secret), 8);
    let forged = Record { body: Body::Kept(Box::new(kept)), ..bait };
    for text in [None, Some(b"bait".to_vec()), Some(b"the plot".to_vec())] {
        let results = shelf.import(&elsewhere, &[Incoming::new(forged.clone(), text)], &Sender::Author, NOW);
        assert_eq!(results[0].as_ref().unwrap_err().kind, ErrorKind::Invalid);
    }
    assert_eq!(shelf.text(&elsewhere, forged.id).unwrap(), None);
    assert_eq!(shelf.text(&ana(), secret.id).unwrap().unwrap(), b"the plan");
}

/// A forgotten record is in no port, and the proof says so.
pub fn forgetting_leaves_nothing(new: NewShelf<'_>) {
    let shelf = new();
    let stays = keep(&shelf, &ana(), "what stays");
    let goes = keep(&shelf, &ana(), "an embarrassing mistake");
    shelf.confirm(&ben(), goes.id, NOW).unwrap();
    assert_eq!(found(&shelf, &ben(), "embarrassing").len(), 1);
    let forgotten = shelf.forget(&ana(), goes.id, Forgotten, NOW).unwrap();
    assert_eq!(forgotten.left, Left::default());
    assert_eq!(forgotten.removal.body, Body::forgets(goes.id));
    for reader in [ana(), ben()] {
        assert_gone(&shelf, &reader, &goes, "embarrassing mistake");
    }
    assert_eq!(kind_of(shelf.forget(&ana(), goes.id, Forgotten, NOW)), ErrorKind::Missing);
    assert_eq!(shelf.text(&ben(), stays.id).unwrap().unwrap(), b"what stays");
    // The same must be true of a record that was never indexed.
    let unindexed = keep(&shelf, &ana(), "unindexed mistake");
    assert_eq!(shelf.forget(&ana(), unindexed.id, Forgotten, NOW).unwrap().left, Left::default());
    assert_gone(&shelf, &ben(), &unindexed, "mistake");
}

/// Forgetting one of two records with the same text leaves the other its text, even in another project.
pub fn a_text_that_another_record_has_stays(new: NewShelf<'_>) {
    let shelf = new();
    let elsewhere = scope("acme", "ben", "web");
    let (one, two) = (keep(&shelf, &ana(), "same text"), keep(&shelf, &elsewhere, "same text"));
    assert_eq!(shelf.forget(&ana(), one.id, Forgotten, NOW).unwrap().left, Left::default());
    assert_eq!(shelf.text(&elsewhere, two.id).unwrap().unwrap(), b"same text");
    assert_eq!(shelf.forget(&elsewhere, two.id, Forgotten, NOW).unwrap().left, Left::default());
    assert_eq!(shelf.ports().blobs.get(&ana(), &text_key(&two)).unwrap(), None);
}

/// A machine that still has a removed record cannot bring it back; nor does the order matter in which a record and its
/// removal arrive.
pub fn what_was_removed_never_comes_back(new: NewShelf<'_>) {
    let (from, to, late) = (new(), new(), new());
    let record = keep(&from, &ana(), "unspeakable");
    let copy = incoming(&from, &ana(), &record);
    let removal = Incoming::new(from.forget(&ana(), record.id, Forgotten, NOW).unwrap().removal, None);
    for _ in 0..2 {
        assert!(from.import(&ana(), std::slice::from_ref(&copy), &Sender::Author, NOW)[0].is_ok());
        assert_gone(&from, &ben(), &record, "unspeakable");
    }
    for (shelf, order) in [(&to, [&copy, &removal]), (&late, [&removal, &copy])] {
        for one in order {
            assert!(shelf.import(&ana(), std::slice::from_ref(one), &Sender::Author, NOW)[0].is_ok());
        }
        assert_gone(shelf, &ben(), &record, "unspeakable");
        let both = [copy.clone(), removal.clone()];
        assert!(shelf.import(&ana(), &both, &Sender::Author, NOW).iter().all(Result::is_ok));
        assert_gone(shelf, &ben(), &record, "unspeakable");
    }
}

/// A removal that arrives before its record counts, whatever else was said about the record before.
pub fn an_early_removal_counts_among_others(new: NewShelf<'_>) {
    let (from, to) = (new(), new());
    let record = keep(&from, &ana(), "unspeakable");
    let copy = incoming(&from, &ana(), &record);
    let removal = Incoming::new(from.forget(&ana(), record.id, Forgotten, NOW).unwrap().removal, None);
    let said = |scope: &Scope, index, body| Record {
        id: RecordId { host: crate::HostId::from_bytes([scope.user.0.as_bytes()[0]; 16]), index },
        author: crate::Author { user: scope.user.clone(), client: String::new() },
        body,
        ..record.clone()
    };
    let confirmed = |by: &Scope| Body::Confirmed { record: record.id, by: by.user.clone() };
    let not_by_its_author = Body::forgets(record.id);
    let log = &to.ports().log;
    log.append(&ben(), &[said(&ben(), 0, confirmed(&ben())), said(&ben(), 1, not_by_its_author)]).unwrap();
    log.append(&ana(), &[said(&ana(), 0, confirmed(&ana()))]).unwrap();
    for one in [removal, copy] {
        assert!(to.import(&ana(), &[one], &Sender::Author, NOW)[0].is_ok());
    }
    assert_gone(&to, &ben(), &record, "unspeakable");
}

/// Another record with the id of an erased one is refused, as it would be if the first were still there. Its sender
/// would take it for stored otherwise.
pub fn another_record_does_not_pass_for_an_erased_one(new: NewShelf<'_>) {
    let (from, to, late) = (new(), new(), new());
    let record = keep(&from, &ana(), "unspeakable");
    let copy = incoming(&from, &ana(), &record);
    let other = Incoming::new(Record { time: LogicalTime::ZERO, ..record.clone() }, copy.text.clone());
    let removal = Incoming::new(from.forget(&ana(), record.id, Forgotten, NOW).unwrap().removal, None);
    for (shelf, order) in [(&to, [copy.clone(), removal.clone()]), (&late, [removal, copy.clone()])] {
        assert!(shelf.import(&ana(), &order, &Sender::Author, NOW).iter().all(Result::is_ok));
        let results = shelf.import(&ana(), &[other.clone(), copy.clone()], &Sender::Author, NOW);
        assert_eq!(results[0].as_ref().unwrap_err().kind, ErrorKind::Conflict);
        assert!(results[1].is_ok(), "{results:?}");
        assert_gone(shelf, &ben(), &record, "unspeakable");
    }
}

/// Nobody but its author removes a record, neither by asking nor by a forged record, and its text survives the attempt.
/// A removal is final, and everyone who saw the record hears of it.
pub fn only_its_author_removes_a_record(new: NewShelf<'_>) {
    let shelf = new();
    let record = keep(&shelf, &ana(), "contested");
    assert_eq!(kind_of(shelf.forget(&ben(), record.id, Forgotten, NOW)), ErrorKind::NotAuthor);
    let removal = |scope: &Scope, audience, index| Record {
        id: RecordId { host: crate::HostId::random().unwrap(), index },
        author: crate::Author { user: scope.user.clone(), client: String::new() },
        audience,
        body: Body::forgets(record.id),
        ..record.clone()
    };
    let attempts = [(ben(), Audience::Team, ErrorKind::NotAuthor), (ana(), Audience::Author, ErrorKind::Invalid)];
    for (scope, audience, kind) in attempts {
        let forged = removal(&scope, audience, 0);
        let results = shelf.import(&scope, &[Incoming::new(forged.clone(), None)], &Sender::Author, NOW);
        assert_eq!(results[0].as_ref().unwrap_err().kind, kind);
        assert_eq!(kind_of(shelf.ports().log.append(&scope, &[forged])), kind);
    }
    // A removal that comes before its record counts only if it is by the same author.
    let early = Record { id: RecordId { index: record.id.index + 100, ..record.id }, ..record.clone() };
    let forged = Record { body: Body::forgets(early.id), ..removal(&ben(), Audience::Team, 1) };
    shelf.ports().log.append(&ben(), &[forged]).unwrap();
    shelf.ports().log.append(&ana(), std::slice::from_ref(&early)).unwrap();
    for id in [record.id, early.id] {
        assert_eq!(shelf.text(&ana(), id).unwrap().unwrap(), b"contested");
    }
    // A removal that cannot be recorded removes nothing.
    let clone = Shelf::new(shelf.ports().clone(), Writer::resume(early.id.host, early.id.index, LogicalTime::ZERO));
    assert_eq!(kind_of(clone.forget(&ana(), record.id, Forgotten, NOW)), ErrorKind::Conflict);
    assert_eq!(shelf.text(&ana(), record.id).unwrap().unwrap(), b"contested");
    let other = keep(&beside(&shelf), &ana(), "another");
    let done = shelf.forget(&ana(), other.id, Forgotten, NOW).unwrap().removal;
    assert_eq!(kind_of(shelf.forget(&ana(), done.id, Forgotten, NOW)), ErrorKind::Invalid);
}

/// An admin removes what others wrote: it leaves nothing, and stays gone. Nobody sends such a removal from elsewhere,
/// and not even an admin removes what only its author sees.
pub fn an_admin_removes_what_others_wrote(new: NewShelf<'_>) {
    let shelf = new();
    let (record, own) = (keep(&shelf, &ana(), "a leaked secret"), keep(&shelf, &ben(), "an own one"));
    let copy = incoming(&shelf, &ana(), &record);
    let forgotten = shelf.forget_as_admin(&ben(), record.id, NOW).unwrap();
    assert_eq!(forgotten.left, Left::default());
    let expected = Body::Removed { record: record.id, why: Forgotten, as_admin: true };
    assert_eq!((&forgotten.removal.body, &forgotten.removal.author.user), (&expected, &ben().user));
    assert_gone(&shelf, &ana(), &record, "leaked secret");
    assert!(shelf.import(&ana(), &[copy], &Sender::Author, NOW)[0].is_ok());
    assert_gone(&shelf, &ana(), &record, "leaked secret");
    assert_eq!(shelf.forget_as_admin(&ben(), own.id, NOW).unwrap().removal.body, Body::forgets(own.id));

    let (other, host) = (keep(&shelf, &ana(), "contested"), crate::HostId::random().unwrap());
    let body = Body::Removed { record: other.id, why: Forgotten, as_admin: true };
    let sent = Record { id: RecordId { host, index: 0 }, body, ..forgotten.removal };
    let results = shelf.import(&ben(), &[Incoming::new(sent, None)], &Sender::Author, NOW);
    assert_eq!(results[0].as_ref().unwrap_err().kind, ErrorKind::NotAuthor);
    assert_eq!(shelf.text(&ana(), other.id).unwrap().unwrap(), b"contested");
    let private = shelf.keep(&ana(), note(Audience::Author, "a diary"), NOW).unwrap();
    assert_eq!(kind_of(shelf.forget_as_admin(&ben(), private.id, NOW)), ErrorKind::Missing);
}

/// A removal that arrives by import removes the text and the words too.
pub fn a_removal_from_elsewhere_leaves_nothing(new: NewShelf<'_>) {
    let (from, to) = (new(), new());
    let record = keep(&from, &ana(), "regrettable");
    to.import(&ana(), &[incoming(&from, &ana(), &record)], &Sender::Author, NOW);
    assert_eq!(found(&to, &ben(), "regrettable").len(), 1);
    let removal = from.forget(&ana(), record.id, Forgotten, NOW).unwrap().removal;
    assert!(to.import(&ana(), &[Incoming::new(removal, None)], &Sender::Author, NOW)[0].is_ok());
    assert_gone(&to, &ben(), &record, "regrettable");
}
