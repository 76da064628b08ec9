//! The property that matters most: nothing crosses a scope.

use std::collections::BTreeSet;

use proptest::prelude::{Strategy, any, prop};
use weir_core::WhyGone::Forgotten;

use super::*;
use crate::{Position, RecordId, Sender};

/// Makes a scope out of few, so that many are the same or differ in one part only.
fn any_scope() -> impl Strategy<Value = (usize, usize, usize)> {
    (0..2usize, 0..2usize, 0..2usize)
}

fn scope_of((tenant, user, project): (usize, usize, usize)) -> Scope {
    // Two tenants have users and projects of the same names.
    scope(["acme", "umbrella"][tenant], ["ana", "ben"][user], ["api", "web"][project])
}

fn every_scope() -> Vec<Scope> {
    (0..8).map(|number| scope_of((number & 1, number >> 1 & 1, number >> 2 & 1))).collect()
}

/// Whatever is kept by whom and for whom: every operation shows a reader exactly what is for them, and changes nothing
/// that is not theirs to change.
pub fn nothing_crosses_tenants_users_and_projects(new: NewShelf<'_>) {
    let plan = prop::collection::vec((any_scope(), any::<bool>()), 1..12);
    for_all(6, plan, |plan| {
        let shelf = new();
        let made: Vec<(Scope, Record)> = plan
            .iter()
            .enumerate()
            .map(|(number, (maker, for_team))| {
                let maker = scope_of(*maker);
                let audience = if *for_team { Audience::Team } else { Audience::Author };
                let text = format!("shared words, own{number}");
                let record = shelf.keep(&maker, note(audience, &text), NOW).unwrap();
                (maker, record)
            })
            .collect();
        for reader in every_scope() {
            check_reader(&shelf, &reader, &made);
        }
        for (maker, record) in &made {
            let text = shelf.text(maker, record.id).unwrap();
            assert!(text.is_some_and(|text| text.starts_with(b"shared words")), "of {maker:?}");
            let kept = shelf.get(maker, record.id).unwrap().unwrap();
            let outsiders = kept.confirmed.iter().filter(|confirmation| confirmation.by != maker.user).count();
            assert!(record.audience == Audience::Team || (outsiders == 0 && kept.superseded_by.is_none()));
        }
    });
}

/// Returns whether a reader may see a record. Written apart from the rule in [`Record::is_visible`] on purpose.
fn may_see(reader: &Scope, maker: &Scope, audience: Audience) -> bool {
    let same_team = (&reader.tenant, &reader.project) == (&maker.tenant, &maker.project);
    same_team && (audience == Audience::Team || reader.user == maker.user)
}

fn check_reader(shelf: &Shelf, reader: &Scope, made: &[(Scope, Record)]) {
    let ids = |records: Vec<Record>| -> BTreeSet<RecordId> { records.into_iter().map(|record| record.id).collect() };
    let seen = made.iter().filter(|(maker, record)| may_see(reader, maker, record.audience));
    let expected: BTreeSet<RecordId> = seen.map(|(_, record)| record.id).collect();
    assert_eq!(ids(found(shelf, reader, "shared")), expected, "search from {reader:?}");
    let batch = shelf.read_since(reader, Position(0), 1_000).unwrap();
    let read = ids(batch.records.into_iter().map(|stored| stored.record).collect());
    let known: BTreeSet<RecordId> = made.iter().map(|(_, record)| record.id).collect();
    assert_eq!(&read & &known, expected, "the log from {reader:?}");
    let bait = shelf.keep(reader, note(Audience::Author, "bait"), NOW).unwrap();
    for (number, (maker, record)) in made.iter().enumerate() {
        let is_seen = expected.contains(&record.id);
        let own_word: BTreeSet<RecordId> = ids(found(shelf, reader, &format!("own{number}")));
        assert_eq!(own_word.contains(&record.id), is_seen);
        assert_eq!(shelf.get(reader, record.id).unwrap().is_some(), is_seen);
        assert_eq!(shelf.text(reader, record.id).unwrap().is_some(), is_seen);
        assert_eq!(shelf.text_range(reader, record.id, 0..9).unwrap().is_some(), is_seen);
        let named = shelf.find(reader, record.body.kept().unwrap().reference, 10).unwrap();
        assert_eq!(named.len(), usize::from(is_seen));
        if !is_seen {
            check_stranger(shelf, (reader, &bait), maker, record);
        }
    }
}

/// Asserts that someone who does not see a record cannot do anything with it, even if they know its id.
fn check_stranger(shelf: &Shelf, (stranger, bait): (&Scope, &Record), maker: &Scope, record: &Record) {
    assert_eq!(kind_of(shelf.confirm(stranger, record.id, NOW)), ErrorKind::Missing);
    assert_eq!(kind_of(shelf.forget(stranger, record.id, Forgotten, NOW)), ErrorKind::Missing);
    for (old, by) in [(record.id, bait.id), (bait.id, record.id)] {
        assert_eq!(kind_of(shelf.supersede(stranger, old, by, NOW)), ErrorKind::Missing);
    }
    let log = &shelf.ports().log;
    assert_eq!(kind_of(log.append(stranger, std::slice::from_ref(record))), ErrorKind::OutOfScope);
    for sender in [Sender::Author, Sender::Log] {
        let results = shelf.import(stranger, &[incoming(shelf, maker, record)], &sender, NOW);
        assert_eq!(results[0].as_ref().unwrap_err().kind, ErrorKind::OutOfScope);
    }
}
