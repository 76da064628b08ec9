//! Tests what an append writes, without a database.

use weir_core::{EntryKind, Origin, ProjectKey, Reference, TenantId, UserId};
use weir_records::sealed::{Identity, KeyGrants, KeyId, SealedEntry};
use weir_records::{Audience, Author, ErrorKind, HostId, Kept, LogicalTime, TextKey};

use super::*;

fn id(index: u64) -> RecordId {
    RecordId { host: HostId::from_bytes([7; 16]), index }
}

fn record(index: u64, user: &str, body: Body) -> Record {
    Record {
        id: id(index),
        time: LogicalTime { millis: 1_700_000_000_000, count: 0 },
        tenant: TenantId("acme".into()),
        project: ProjectKey("api".into()),
        author: Author { user: UserId(user.into()), client: String::new() },
        audience: Audience::Team,
        body,
    }
}

fn note(index: u64) -> Record {
    let kept = Kept {
        reference: Reference::from_bits(index),
        kind: EntryKind::Note,
        origin: Origin::User,
        title: "a note".into(),
        source: None,
        note: None,
        text: TextKey::of(b"x"),
        bytes: 1,
    };
    record(index, "ana", Body::Kept(Box::new(kept)))
}

fn removal(index: u64, user: &str, of: u64) -> Record {
    record(index, user, Body::forgets(id(of)))
}

/// Returns a log of one project that has these records.
fn log(stored: &[Record]) -> LogState {
    let mut log = LogState::default();
    for record in stored {
        log.head = Position(log.head.0 + 1);
        let json = Some(record.to_json().unwrap());
        log.known.insert(record.id, KnownRecord { position: log.head, is_here: true, json, imprint: None });
        if let Some(about) = record.body.about() {
            log.earlier.entry(about).or_default().push(record.clone());
        }
    }
    log
}

/// Checks which ids are added, with their positions and whether they have content, and which positions are erased.
fn check(stored: &[Record], records: &[Record], added: &[(u64, u64, bool)], erased: &[u64]) {
    let plan = plan(records, log(stored)).unwrap();
    let rows = plan.rows.iter().map(|row| (row.record.id.index, row.position.0, row.json.is_some()));
    assert_eq!(rows.collect::<Vec<_>>(), added);
    assert_eq!(plan.erased.iter().map(|row| row.position.0).collect::<Vec<_>>(), erased);
    assert_eq!(plan.positions.len(), records.len());
}

fn kind(stored: &[Record], records: &[Record]) -> ErrorKind {
    plan(records, log(stored)).unwrap_err().kind
}

#[test]
fn new_records_follow_the_head_and_known_ones_keep_their_place() {
    check(&[], &[note(1), note(2)], &[(1, 1, true), (2, 2, true)], &[]);
    check(&[note(1)], &[note(1), note(2), note(1), note(2)], &[(2, 2, true)], &[]);
    check(&[note(1)], &[note(1)], &[], &[]);
    let records = [note(1), note(2), note(2)];
    let plan = plan(&records, log(&[note(1)])).unwrap();
    assert_eq!(plan.positions, [Position(1), Position(2), Position(2)]);
}

#[test]
fn a_removal_erases_what_is_stored_what_comes_with_it_and_what_comes_later() {
    check(&[note(1)], &[removal(2, "ana", 1)], &[(2, 2, true)], &[1]);
    check(&[], &[note(1), removal(2, "ana", 1)], &[(1, 1, false), (2, 2, true)], &[]);
    check(&[], &[removal(2, "ana", 1), note(1)], &[(2, 1, true), (1, 2, false)], &[]);
    check(&[removal(2, "ana", 1)], &[note(1)], &[(1, 2, false)], &[]);
    check(&[removal(2, "ben", 1)], &[note(1)], &[(1, 2, true)], &[]);
}

#[test]
fn an_erased_record_is_known_and_stays_erased() {
    let erased = |imprint| {
        let mut state = log(&[note(1), removal(2, "ana", 1)]);
        let known = state.known.get_mut(&id(1)).unwrap();
        (known.json, known.imprint) = (None, imprint);
        state
    };
    let imprint = Some(Imprint::of(&note(1).to_json().unwrap()));
    let records = [note(1), removal(3, "ana", 1)];
    let planned = plan(&records, erased(imprint)).unwrap();
    assert_eq!((planned.positions, planned.erased), (vec![Position(1), Position(3)], Vec::new()));
    let other = [Record { time: LogicalTime::ZERO, ..note(1) }];
    assert_eq!(plan(&other, erased(imprint)).unwrap_err().kind, ErrorKind::Conflict);
    // Whether it is the same one is not known if an earlier version has erased it.
    assert_eq!(plan(&records, erased(None)).unwrap_err().kind, ErrorKind::Erased);
}

#[test]
fn another_record_with_the_id_of_one_that_the_call_erases_is_a_conflict() {
    let other = Record { time: LogicalTime::ZERO, ..note(1) };
    for stored in [vec![], vec![note(1)]] {
        assert!(plan(&[note(1), removal(2, "ana", 1), note(1)], log(&stored)).is_ok());
        assert_eq!(kind(&stored, &[note(1), removal(2, "ana", 1), other.clone()]), ErrorKind::Conflict);
    }
}

#[test]
fn another_record_with_the_same_id_is_a_conflict_here_and_in_other_projects() {
    let other = Record { time: LogicalTime::ZERO, ..note(1) };
    assert_eq!(kind(&[note(1)], std::slice::from_ref(&other)), ErrorKind::Conflict);
    assert_eq!(kind(&[], &[note(1), other]), ErrorKind::Conflict);
    let mut elsewhere = log(&[note(1)]);
    elsewhere.known.get_mut(&id(1)).unwrap().is_here = false;
    assert_eq!(plan(&[note(1)], elsewhere).unwrap_err().kind, ErrorKind::Conflict);
}

#[test]
fn a_removal_by_another_user_and_one_of_a_removal_are_refused() {
    assert_eq!(kind(&[note(1)], &[removal(2, "ben", 1)]), ErrorKind::NotAuthor);
    assert_eq!(kind(&[], &[note(1), removal(2, "ben", 1)]), ErrorKind::NotAuthor);
    let stored = [note(1), removal(2, "ana", 1)];
    assert_eq!(kind(&stored, &[removal(3, "ana", 2)]), ErrorKind::Invalid);
}

#[test]
fn a_removal_reaches_no_other_project() {
    let mut elsewhere = log(&[note(1)]);
    elsewhere.known.get_mut(&id(1)).unwrap().is_here = false;
    let records = [removal(2, "ana", 1)];
    assert_eq!(plan(&records, elsewhere).unwrap().erased, []);
}

#[test]
fn a_sealed_project_takes_no_entry_in_clear() {
    let key = KeyId::parse(&"05".repeat(16)).unwrap();
    let granted = KeyGrants {
        by: Identity::random().unwrap().public(),
        after: Vec::new(),
        removed: Vec::new(),
        key,
        older: String::new(),
        grants: Vec::new(),
        signature: String::new(),
    };
    let seal = record(9, "ana", Body::Granted(Box::new(granted)));
    let sealed = record(2, "ben", Body::Sealed(Box::new(SealedEntry { key, content: "AAAA".into() })));
    assert_eq!(kind(std::slice::from_ref(&seal), &[note(1)]), ErrorKind::Sealed);
    assert_eq!(kind(&[], &[seal.clone(), note(1)]), ErrorKind::Sealed);
    check(&[note(1), seal.clone()], &[note(1), sealed], &[(2, 3, true)], &[]);
    assert_eq!(kind(&[seal], &[removal(1, "ana", 9)]), ErrorKind::Invalid);
}
