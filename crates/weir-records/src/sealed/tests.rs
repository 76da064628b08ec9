//! Tests what sealing promises: members read, others do not, and nothing opens at another place than its own.

use proptest::prelude::*;
use weir_core::{EntryKind, Origin, Reference, UserId};

use super::*;
use crate::clock::LogicalTime;
use crate::id::TextKey;
use crate::record::{Audience, Author, Body, Kept, NoteFields, Record};

const TEXT: &str = "The pool has ten connections.";

fn acme() -> (TenantId, ProjectKey) {
    (TenantId("acme".into()), ProjectKey("api".into()))
}

fn place(names: &(TenantId, ProjectKey)) -> SealedPlace<'_> {
    SealedPlace { tenant: &names.0, project: &names.1 }
}

fn record(text: &str) -> Record {
    let note = NoteFields {
        kind: weir_core::NoteKind::Decision,
        topic: Some("pool".into()),
        files: Vec::new(),
        commit: None,
        branch: None,
    };
    let kept = Kept {
        reference: Reference::from_bits(5),
        kind: EntryKind::Note,
        origin: Origin::User,
        title: "Pool size".into(),
        source: None,
        note: Some(note),
        text: TextKey::of(text.as_bytes()),
        bytes: text.len() as u64,
    };
    let (tenant, project) = acme();
    Record {
        id: RecordId { host: HostId::from_bytes([7; 16]), index: 3 },
        time: LogicalTime { millis: 1_700_000_000_000, count: 2 },
        tenant,
        project,
        author: Author { user: UserId("ana".into()), client: "claude-code".into() },
        audience: Audience::Team,
        body: Body::Kept(Box::new(kept)),
    }
}

fn content_of(record: &mut Record) -> &mut SealedEntry {
    match &mut record.body {
        Body::Sealed(sealed) => sealed,
        other => panic!("not sealed: {other:?}"),
    }
}

/// Seals a record, changes it, and checks that a member cannot open it any more.
fn check_refused(change: impl Fn(&mut Record)) {
    let keys = Keyring::random().unwrap();
    let mut sealed = keys.seal(&record(TEXT), TEXT).unwrap();
    assert!(keys.open(&sealed).is_ok());
    change(&mut sealed);
    let error = keys.open(&sealed).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn what_is_sealed_opens_as_it_was(text: String) {
        let (keys, record) = (Keyring::random().unwrap(), record(&text));
        let sealed = keys.seal(&record, &text).unwrap();
        let read = Record::from_json(&sealed.to_json().unwrap()).unwrap();
        let opened = keys.open(&read).unwrap();
        prop_assert_eq!(Some(&opened.entry), record.body.kept());
        prop_assert_eq!(opened.text, text);
    }

    #[test]
    fn a_flipped_bit_is_refused(at in 0usize..200, bit in 0u32..8) {
        check_refused(|record| {
            use base64::Engine as _;
            let engine = base64::engine::general_purpose::STANDARD;
            let sealed = content_of(record);
            let mut bytes = engine.decode(&sealed.content).unwrap();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            sealed.content = engine.encode(bytes);
        });
    }
}

#[test]
fn nothing_of_the_entry_is_in_the_record() {
    let sealed = Keyring::random().unwrap().seal(&record(TEXT), TEXT).unwrap().to_json().unwrap();
    for word in ["Pool size", "decision", "connections", &record(TEXT).body.kept().unwrap().text.to_string()] {
        assert!(!sealed.contains(word), "{word}: {sealed}");
    }
}

#[test]
fn the_same_entry_is_never_sealed_twice_alike() {
    let keys = Keyring::random().unwrap();
    assert_ne!(keys.seal(&record(TEXT), TEXT).unwrap(), keys.seal(&record(TEXT), TEXT).unwrap());
}

#[test]
fn a_record_opens_at_its_own_place_only() {
    check_refused(|record| record.id.index += 1);
    check_refused(|record| record.id.host = HostId::from_bytes([8; 16]));
    check_refused(|record| record.project = ProjectKey("web".into()));
    check_refused(|record| record.tenant = TenantId("umbrella".into()));
}

#[test]
fn what_is_in_clear_cannot_be_changed() {
    check_refused(|record| record.author.user = UserId("ben".into()));
    check_refused(|record| record.author.client.clear());
    check_refused(|record| record.time.millis += 1);
    check_refused(|record| record.audience = Audience::Author);
}

#[test]
fn what_is_cut_or_of_another_key_is_refused() {
    check_refused(|record| content_of(record).content.clear());
    check_refused(|record| content_of(record).content.truncate(16));
    check_refused(|record| content_of(record).content.truncate(64));
    check_refused(|record| content_of(record).key = Keyring::random().unwrap().newest().unwrap());
    let (ours, theirs) = (Keyring::random().unwrap(), Keyring::random().unwrap());
    assert!(theirs.open(&ours.seal(&record(TEXT), TEXT).unwrap()).is_err());
}

#[test]
fn a_text_that_is_not_that_of_its_entry_is_refused() {
    let keys = Keyring::random().unwrap();
    assert!(keys.open(&keys.seal(&record("another"), TEXT).unwrap()).is_err());
}

fn extended(followed: Followed) -> Keyring {
    match followed {
        Followed::Extended(ring) => ring,
        other => panic!("no keys: {other:?}"),
    }
}

#[test]
fn a_member_gets_the_keys_and_another_machine_does_not() {
    let (names, [ana, ben, eve]) = (acme(), [(); 3].map(|()| Identity::random().unwrap()));
    let ring = Keyring::random().unwrap();
    let grants = ring.grant(place(&names), &[ana.public(), ben.public()]).unwrap();
    let nothing = Keyring::default();
    let of_ben = extended(nothing.follow(&ben, place(&names), &grants).unwrap());
    let sealed = ring.seal(&record(TEXT), TEXT).unwrap();
    assert_eq!(of_ben.open(&sealed).unwrap().text, TEXT);
    assert_eq!(of_ben.fingerprint(), ring.fingerprint());
    assert!(matches!(nothing.follow(&eve, place(&names), &grants).unwrap(), Followed::NotForUs));
    // Nor if the grant of another is given out as hers.
    let mut stolen = grants.clone();
    stolen.grants[0].member = eve.public();
    assert!(matches!(nothing.follow(&eve, place(&names), &stolen).unwrap(), Followed::Unproven));
    // Nor does it mean anything in another project.
    let other = (names.0.clone(), ProjectKey("web".into()));
    assert!(matches!(nothing.follow(&ben, place(&other), &grants).unwrap(), Followed::Unproven));
    assert!(matches!(of_ben.follow(&ben, place(&other), &grants).unwrap(), Followed::Unproven));
    assert!(matches!(of_ben.follow(&ben, place(&names), &grants).unwrap(), Followed::Known));
}

#[test]
fn a_server_can_add_neither_a_member_nor_a_key() {
    let (names, [ana, server]) = (acme(), [(); 2].map(|()| Identity::random().unwrap()));
    let ring = Keyring::random().unwrap();
    let check = |grants: &KeyGrants| {
        assert!(matches!(ring.follow(&ana, place(&names), grants).unwrap(), Followed::Unproven), "{grants:?}");
    };
    let own = Keyring::random().unwrap();
    check(&own.grant(place(&names), &[ana.public(), server.public()]).unwrap());
    check(&own.replace_key(place(&names), &[ana.public()]).unwrap());
    let real = ring.grant(place(&names), &[ana.public()]).unwrap();
    let mut added = real.clone();
    added.grants.push(Grant { member: server.public(), keys: String::new() });
    check(&added);
    check(&KeyGrants { proof: "00".repeat(32), ..real.clone() });
    check(&KeyGrants { proven_by: own.newest().unwrap(), ..real });
}

#[test]
fn who_is_left_out_reads_what_is_older_and_nothing_newer() {
    let (names, [ana, ben]) = (acme(), [(); 2].map(|()| Identity::random().unwrap()));
    let before = Keyring::random().unwrap();
    let grants = before.replace_key(place(&names), &[ana.public()]).unwrap();
    let after = extended(before.follow(&ana, place(&names), &grants).unwrap());
    assert_eq!(after.newest(), Some(grants.key));
    let newer = after.seal(&record(TEXT), TEXT).unwrap();
    assert!(matches!(before.follow(&ben, place(&names), &grants).unwrap(), Followed::LeftOut));
    assert!(before.open(&newer).is_err());
    assert!(after.open(&before.seal(&record(TEXT), TEXT).unwrap()).is_ok());
    // Ben may come back, and then has everything.
    let again = after.grant(place(&names), &[ben.public()]).unwrap();
    let of_ben = extended(before.follow(&ben, place(&names), &again).unwrap());
    assert_eq!(of_ben.open(&newer).unwrap().text, TEXT);
    // Of two that replace the key at the same time, the first one counts.
    let rival = before.replace_key(place(&names), &[ana.public()]).unwrap();
    assert!(matches!(after.follow(&ana, place(&names), &rival).unwrap(), Followed::Unproven));
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    let (identity, ring) = (Identity::random().unwrap(), Keyring::random().unwrap());
    assert_eq!(Identity::from_text(&identity.to_text()).unwrap().public(), identity.public());
    let texts = ring.to_texts();
    let read = Keyring::from_texts(texts.iter().map(|text| text.as_str())).unwrap();
    assert_eq!(read.newest(), ring.newest());
    let written = identity.public().to_string();
    assert_eq!(MemberKey::parse(&written).unwrap(), identity.public());
    let changed = written.replace(&written[10..11], if &written[10..11] == "0" { "1" } else { "0" });
    for wrong in ["", "wk1", &written[1..], &written[..written.len() - 1], &changed, &format!("{written}0")] {
        assert!(MemberKey::parse(wrong).is_err(), "{wrong}");
    }
    let shown = format!("{identity:?} {ring:?}");
    assert!(!shown.contains(identity.to_text().as_str()) && !shown.contains(texts[0].as_str()));
}
