//! Tests what sealing promises: members read, others do not, and nothing opens at another place than its own.

use proptest::prelude::*;
use weir_core::{EntryKind, Origin, Reference, UserId};

use super::*;
use crate::clock::LogicalTime;
use crate::id::TextKey;
use crate::record::{Audience, Author, Body, Kept, NoteFields, Record};

const TEXT: &str = "The pool has ten connections.";

pub(super) fn acme() -> (TenantId, ProjectKey) {
    (TenantId("acme".into()), ProjectKey("api".into()))
}

pub(super) fn place(names: &(TenantId, ProjectKey)) -> SealedPlace<'_> {
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

pub(super) struct Machine {
    pub(super) identity: Identity,
    pub(super) ring: Keyring,
    pub(super) roster: Roster,
    user: &'static str,
}

impl Machine {
    pub(super) fn new(user: &'static str) -> Self {
        Self { identity: Identity::random().unwrap(), ring: Keyring::default(), roster: Roster::default(), user }
    }

    fn sealing(user: &'static str) -> (Self, KeyGrants) {
        let mut machine = Self::new(user);
        let seal = machine.change(&[&machine], &[]);
        machine.learn(&seal);
        (machine, seal)
    }

    pub(super) fn member(&self) -> Member {
        Member { key: self.key(), user: self.user.to_owned() }
    }

    pub(super) fn key(&self) -> MemberKey {
        self.identity.public()
    }

    pub(super) fn change(&self, admitted: &[&Self], removed: &[&Self]) -> KeyGrants {
        let admitted: Vec<Member> = admitted.iter().map(|one| one.member()).collect();
        let removed: Vec<MemberKey> = removed.iter().map(|one| one.key()).collect();
        self.roster.change(place(&acme()), &self.identity, &self.ring, (&admitted, &removed)).unwrap()
    }

    pub(super) fn learn(&mut self, change: &KeyGrants) -> Learned {
        let learned = self.roster.learn(place(&acme()), change).unwrap();
        if let Learned::New(new) = &learned {
            for change in new.iter().map(|id| self.roster.get(*id).unwrap()) {
                let extended = self.ring.extended_by(&self.identity, place(&acme()), change).unwrap();
                self.ring = extended.unwrap_or_else(|| self.ring.clone());
            }
        }
        learned
    }

    fn seal(&self, record: &Record, text: &str) -> Record {
        self.ring.seal(self.roster.current_key().unwrap(), &self.identity, record, text).unwrap()
    }

    pub(super) fn members(&self) -> Vec<MemberKey> {
        self.roster.members().map(|member| member.key).collect()
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
    let (ana, _) = Machine::sealing("ana");
    let mut sealed = ana.seal(&record(TEXT), TEXT);
    assert!(ana.ring.open(&sealed).is_ok());
    change(&mut sealed);
    let error = ana.ring.open(&sealed).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn what_is_sealed_opens_as_it_was(text: String) {
        let ((ana, _), record) = (Machine::sealing("ana"), record(&text));
        let sealed = ana.seal(&record, &text);
        let read = Record::from_json(&sealed.to_json().unwrap()).unwrap();
        let (opened, by) = ana.ring.open(&read).unwrap();
        prop_assert_eq!(by, ana.key());
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_change_with_any_byte_changed_counts_for_nothing(at: usize, byte: u8, cut in 0usize..8) {
        let (mut ana, _) = Machine::sealing("ana");
        let real = ana.change(&[&Machine::new("ben")], &[]);
        let mut bytes = serde_json::to_vec(&real).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.drain(at..(at + cut.saturating_sub(4)).min(bytes.len()));
        if let Ok(read) = serde_json::from_slice::<KeyGrants>(&bytes) && read != real {
            let learned = ana.learn(&read);
            prop_assert!(matches!(learned, Learned::Unproven), "{learned:?}");
            prop_assert_eq!(ana.members(), [ana.key()]);
        }
    }

    #[test]
    fn a_granted_key_of_any_bytes_opens_nothing(key: Vec<u8>, older: Vec<u8>) {
        use base64::Engine as _;
        let engine = base64::engine::general_purpose::STANDARD;
        let (ana, mut change) = Machine::sealing("ana");
        change.older = engine.encode(older);
        // Without the older keys, the new one is still there.
        let names = acme();
        let extended = |change: &KeyGrants| {
            Keyring::default().extended_by(&ana.identity, place(&names), change).unwrap()
        };
        prop_assert!(extended(&change).is_some_and(|ring| ring.to_texts().len() == 1));
        change.grants[0].key = engine.encode(key);
        prop_assert!(extended(&change).is_none());
    }
}

#[test]
fn nothing_of_the_entry_is_in_the_record() {
    let sealed = Machine::sealing("ana").0.seal(&record(TEXT), TEXT).to_json().unwrap();
    for word in ["Pool size", "decision", "connections", &record(TEXT).body.kept().unwrap().text.to_string()] {
        assert!(!sealed.contains(word), "{word}: {sealed}");
    }
}

#[test]
fn the_same_entry_is_never_sealed_twice_alike() {
    let (ana, _) = Machine::sealing("ana");
    assert_ne!(ana.seal(&record(TEXT), TEXT), ana.seal(&record(TEXT), TEXT));
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
    check_refused(|record| content_of(record).key = KeyId([1; 16]));
    let ((ours, _), (theirs, _)) = (Machine::sealing("ana"), Machine::sealing("ben"));
    assert!(theirs.ring.open(&ours.seal(&record(TEXT), TEXT)).is_err());
}

#[test]
fn a_text_that_is_not_that_of_its_entry_is_refused() {
    let (ana, _) = Machine::sealing("ana");
    assert!(ana.ring.open(&ana.seal(&record("another"), TEXT)).is_err());
}

#[test]
fn an_entry_is_opened_in_the_name_of_the_machine_that_signed_it() {
    let (mut ana, seal) = Machine::sealing("ana");
    let mut ben = Machine::new("ben");
    let admission = ana.change(&[&ben], &[]);
    for machine in [&mut ana, &mut ben] {
        machine.learn(&seal);
        machine.learn(&admission);
    }
    // Ben has the key of all, and signs with his own.
    let (_, by) = ana.ring.open(&ben.seal(&record(TEXT), TEXT)).unwrap();
    assert_eq!(ana.roster.user_of(by), Some("ben"));
    // What ana has signed, ben cannot seal again at another place.
    let key = ben.roster.current_key().unwrap();
    let forged = ben.ring.seal(key, &ben.identity, &record(TEXT), TEXT).unwrap();
    assert_ne!(ana.ring.open(&forged).unwrap().1, ana.key());
}

#[test]
fn a_member_gets_all_keys_and_another_machine_none() {
    let (mut ana, seal) = Machine::sealing("ana");
    let [mut ben, mut eve] = ["ben", "eve"].map(Machine::new);
    let older = ana.seal(&record(TEXT), TEXT);
    let admission = ana.change(&[&ben], &[]);
    for machine in [&mut ana, &mut ben, &mut eve] {
        machine.learn(&seal);
        assert!(matches!(machine.learn(&admission), Learned::New(_)));
    }
    assert_eq!(ben.ring.open(&older).unwrap().0.text, TEXT);
    assert_eq!(ben.ring.open(&ana.seal(&record(TEXT), TEXT)).unwrap().0.text, TEXT);
    assert_eq!(ben.roster.first(), ana.roster.first());
    assert!(eve.ring.is_empty() && eve.members() == ana.members());
    // It means nothing in another project.
    let other = (acme().0, ProjectKey("web".into()));
    let mut elsewhere = Roster::default();
    assert_eq!(elsewhere.learn(place(&other), &seal).unwrap(), Learned::Unproven);
}

#[test]
fn a_server_can_add_neither_a_member_nor_a_key() {
    let (mut ana, seal) = Machine::sealing("ana");
    let (server, own_seal) = Machine::sealing("server");
    let real = ana.change(&[&Machine::new("ben")], &[]);
    let mut added = real.clone();
    added.grants.push(own_seal.grants[0].clone());
    added.grants.sort_by_key(|grant| grant.member);
    let as_ana = KeyGrants { by: ana.key(), ..server.change(&[&ana], &[]) };
    let follows = KeyGrants { after: real.after.clone(), ..server.change(&[&ana], &[]) };
    let resigned = |change: &KeyGrants| {
        let id = change.id(place(&acme())).unwrap();
        KeyGrants { signature: server.identity.sign(&id.0), ..change.clone() }
    };
    let renamed = |user: &str| {
        let mut change = real.clone();
        change.grants[0].user = user.to_owned();
        change
    };
    let unsigned = KeyGrants { signature: "00".repeat(64), ..real.clone() };
    let empty = KeyGrants { signature: String::new(), ..real.clone() };
    let reseal = KeyGrants { after: Vec::new(), ..real.clone() };
    for forged in [own_seal, added.clone(), as_ana, unsigned, empty, reseal, renamed("server"), renamed("\n")] {
        assert_eq!(ana.learn(&forged), Learned::Unproven, "{forged:?}");
    }
    for forged in [resigned(&added), resigned(&follows), resigned(&real)] {
        assert_eq!(ana.learn(&forged), Learned::Unproven, "{forged:?}");
    }
    assert_eq!((ana.members(), ana.learn(&seal)), (vec![ana.key()], Learned::Known));
}

/// Returns ana, ben and mallory, whom ana has admitted, and removed again.
fn with_mallory_removed() -> ([Machine; 3], KeyGrants) {
    let (ana, seal) = Machine::sealing("ana");
    let [ben, mallory] = ["ben", "mallory"].map(Machine::new);
    let admission = ana.change(&[&ben, &mallory], &[]);
    let mut all = [ana, ben, mallory];
    for machine in &mut all {
        machine.learn(&seal);
        machine.learn(&admission);
    }
    let removal = all[0].change(&[], &[&all[2]]);
    all[0].learn(&removal);
    all[1].learn(&removal);
    (all, removal)
}

#[test]
fn a_removed_member_does_not_come_back_with_old_keys() {
    let ([mut ana, ben, mallory], removal) = with_mallory_removed();
    let puppet = Machine::new("mallory");
    let members = ana.members();
    let after_removal = ana.seal(&record(TEXT), TEXT);
    // As if it were older than the removal: this counts as written by a member, and admits nobody.
    let before = mallory.change(&[&puppet], &[]);
    let signed = |change: KeyGrants| {
        let id = change.id(place(&acme())).unwrap();
        KeyGrants { signature: mallory.identity.sign(&id.0), ..change }
    };
    let follows = signed(KeyGrants { after: vec![removal.id(place(&acme())).unwrap()], ..before.clone() });
    for forged in [before, follows, mallory.change(&[], &[])] {
        ana.learn(&forged);
        assert_eq!(ana.members(), members);
    }
    // What only members have is the key of the removal still.
    assert_eq!(ana.roster.current_key(), Some(removal.key));
    let next = ana.change(&[], &[&ben]);
    ana.learn(&next);
    assert_eq!(ana.members(), [ana.key()]);
    let newest = ana.seal(&record(TEXT), TEXT);
    for machine in [&mallory, &puppet] {
        for change in [&removal, &next] {
            assert!(machine.ring.extended_by(&machine.identity, place(&acme()), change).unwrap().is_none());
        }
        assert!(machine.ring.open(&after_removal).is_err() && machine.ring.open(&newest).is_err());
    }
    let again = ana.roster.change(place(&acme()), &ana.identity, &ana.ring, (&[mallory.member()], &[]));
    assert!(again.unwrap_err().to_string().contains("does not come back"));
}

#[test]
fn a_member_who_was_not_shown_a_removal_brings_nobody_back() {
    let (mut ana, seal) = Machine::sealing("ana");
    let [mut ben, mut mallory, puppet, dora] = ["ben", "mallory", "mallory", "dora"].map(Machine::new);
    let admission = ana.change(&[&ben, &mallory], &[]);
    for machine in [&mut ana, &mut ben, &mut mallory] {
        machine.learn(&seal);
        machine.learn(&admission);
    }
    let removal = ana.change(&[], &[&mallory]);
    let sneaky = mallory.change(&[&puppet], &[]);
    ben.learn(&sneaky);
    let innocent = ben.change(&[&dora], &[]);
    assert!(innocent.grants.iter().any(|grant| grant.member == puppet.key()));
    for change in [&removal, &sneaky, &innocent] {
        ana.learn(change);
    }
    for change in [&innocent, &removal] {
        ben.learn(change);
    }
    assert_eq!((ana.members(), ana.members().len()), (ben.members(), 3));
    assert!([&mallory, &puppet].iter().all(|one| !ana.members().contains(&one.key())));
    assert_eq!(ana.roster.current_key(), None, "the puppet has the key of ben's change");
}

#[test]
fn a_removed_member_cannot_hand_out_a_key_of_their_own_to_those_who_stay() {
    let ([mut ana, _, mallory], removal) = with_mallory_removed();
    // Granted to exactly those who are members now, and known to mallory.
    let names = acme();
    let staying = ana.roster.members().map(|member| (member.key, member.user));
    let new = mallory.ring.new_key(place(&names), staying).unwrap();
    let mut forged = KeyGrants { key: new.key, older: new.older, grants: new.grants, ..mallory.change(&[], &[]) };
    for removed in [Vec::new(), vec![mallory.key()]] {
        forged.removed = removed;
        forged.signature = mallory.identity.sign(&forged.id(place(&names)).unwrap().0);
        assert_eq!(ana.learn(&forged), Learned::Unproven);
    }
    assert_eq!(ana.roster.current_key(), Some(removal.key));
}

#[test]
fn members_who_change_the_members_at_the_same_time_end_with_the_same_list() {
    let ([mut ana, mut ben, _], removal) = with_mallory_removed();
    let (carol, dora) = (Machine::new("carol"), Machine::new("dora"));
    let (one, other) = (ana.change(&[&carol], &[]), ben.change(&[&dora], &[]));
    for (machine, changes) in [(&mut ana, [&one, &other]), (&mut ben, [&other, &one])] {
        changes.iter().for_each(|change| drop(machine.learn(change)));
        assert_eq!(machine.roster.current_key(), None, "nobody has a key that all members have");
    }
    let renewal = ben.change(&[], &[]);
    for machine in [&mut ana, &mut ben] {
        machine.learn(&renewal);
        assert_eq!(machine.roster.current_key(), Some(renewal.key));
    }
    assert_eq!((ana.members(), ana.members().len()), (ben.members(), 4));
    // They remove each other: both are gone, for neither may come back by what they wrote.
    let (one, other) = (ana.change(&[], &[&ben]), ben.change(&[], &[&ana]));
    for (machine, changes) in [(&mut ana, [&one, &other]), (&mut ben, [&other, &one])] {
        changes.iter().for_each(|change| drop(machine.learn(change)));
        assert!([author(&one), author(&other)].iter().all(|key| !machine.members().contains(key)));
    }
    assert_eq!(ana.learn(&removal), Learned::Known);
}

fn author(change: &KeyGrants) -> MemberKey {
    change.by
}

#[test]
fn a_change_that_comes_before_those_it_follows_waits_for_them() {
    let (mut ana, seal) = Machine::sealing("ana");
    let mut ben = Machine::new("ben");
    let admission = ana.change(&[&ben], &[]);
    ana.learn(&admission);
    let renewal = ana.change(&[], &[]);
    assert_eq!(ben.learn(&renewal), Learned::Waiting);
    assert_eq!((ben.learn(&admission), ben.roster.first()), (Learned::Waiting, None));
    assert!(matches!(ben.learn(&seal), Learned::New(new) if new.len() == 3));
    assert_eq!(ben.roster.current_key(), Some(renewal.key));
    assert!(ben.ring.has(renewal.key) && ben.ring.has(seal.key));
    // Anybody can write changes that follow nothing, and only some are kept.
    let stranger = Machine::sealing("eve").0;
    let junk = |number: u8| {
        let mut change = stranger.change(&[], &[]);
        change.after = vec![ChangeId([number; 32])];
        change.signature = stranger.identity.sign(&change.id(place(&acme())).unwrap().0);
        change
    };
    let waiting = (0..80).filter(|number| ben.learn(&junk(*number)) == Learned::Waiting).count();
    assert_eq!((waiting, ben.members().len()), (64, 2));
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    let (Machine { identity, ring, roster, .. }, seal) = Machine::sealing("ana");
    assert_eq!(Identity::from_text(&identity.to_text()).unwrap().public(), identity.public());
    let texts = ring.to_texts();
    let read = Keyring::from_texts(texts.iter().map(|text| text.as_str())).unwrap();
    assert!(read.has(seal.key) && roster.current_key() == Some(seal.key));
    let written = identity.public().to_string();
    assert_eq!(MemberKey::parse(&written).unwrap(), identity.public());
    let changed = written.replace(&written[10..11], if &written[10..11] == "0" { "1" } else { "0" });
    for wrong in ["", "wk1", &written[1..], &written[..written.len() - 1], &changed, &format!("{written}0")] {
        assert!(MemberKey::parse(wrong).is_err(), "{wrong}");
    }
    let shown = format!("{identity:?} {ring:?}");
    assert!(!shown.contains(identity.to_text().as_str()) && !shown.contains(texts[0].as_str()));
}
