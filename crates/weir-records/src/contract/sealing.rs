//! Properties of sealed projects.

use super::*;
use crate::sealed::{Identity, KeyId, Keyring, Member, Roster, SealedPlace};
use crate::{Author, Body, Kept, LogicalTime, Position, RecordId, Sender, TextKey};

/// Returns a record of a scope's user, by a host of theirs that the suite does not use.
fn record(scope: &Scope, index: u64, body: Body) -> Record {
    Record {
        id: RecordId { host: crate::HostId::from_bytes([scope.user.0.as_bytes()[0]; 16]), index },
        time: LogicalTime { millis: NOW.0, count: 0 },
        tenant: scope.tenant.clone(),
        project: scope.project.clone(),
        author: Author { user: scope.user.clone(), client: String::new() },
        audience: Audience::Team,
        body,
    }
}

fn in_clear(scope: &Scope, index: u64, text: &str) -> Record {
    let kept = Kept {
        reference: weir_core::Reference::from_bits(index),
        kind: EntryKind::Note,
        origin: weir_core::Origin::User,
        title: "a note".into(),
        source: None,
        note: None,
        text: TextKey::of(text.as_bytes()),
        bytes: text.len() as u64,
    };
    record(scope, index, Body::Kept(Box::new(kept)))
}

/// A member of a project that is sealed.
struct Sealer {
    identity: Identity,
    ring: Keyring,
    key: KeyId,
}

/// Seals a project with one member.
fn seal(shelf: &Shelf, scope: &Scope) -> Sealer {
    let identity = Identity::random().unwrap();
    let member = Member { key: identity.public(), user: scope.user.0.clone() };
    let place = SealedPlace { tenant: &scope.tenant, project: &scope.project };
    let change = Roster::default().change(place, &identity, &Keyring::default(), (&[member], &[])).unwrap();
    let (key, ring) = (change.key, Keyring::default().extended_by(&identity, place, &change).unwrap().unwrap());
    let grants = record(scope, 0, Body::Granted(Box::new(change)));
    shelf.import(scope, &[Incoming::new(grants, None)], &Sender::Author, NOW).pop().unwrap().unwrap();
    Sealer { identity, ring, key }
}

fn take(shelf: &Shelf, scope: &Scope, record: &Record, text: Option<&str>) -> crate::Result<Position> {
    let incoming = Incoming::new(record.clone(), text.map(|text| text.as_bytes().to_vec()));
    shelf.import(scope, &[incoming], &Sender::Author, NOW).pop().unwrap()
}

/// Once a project is sealed, no port takes an entry in clear from any user; what the log had before can be sent
/// again, and other projects go on. The seal cannot be removed, by its author either.
pub fn a_sealed_project_takes_no_entry_in_clear(new: NewShelf<'_>) {
    let shelf = new();
    let old = in_clear(&ana(), 100, "from before");
    let position = take(&shelf, &ana(), &old, Some("from before")).unwrap();
    assert!(!shelf.is_sealed(&ana()).unwrap());
    seal(&shelf, &ana());
    assert!(shelf.is_sealed(&ana()).unwrap() && shelf.is_sealed(&ben()).unwrap());
    assert!(!shelf.is_sealed(&scope("acme", "ana", "web")).unwrap());
    let head = shelf.ports().log.head(&ana()).unwrap();

    let new = in_clear(&ben(), 101, "a secret");
    assert_eq!(kind_of(take(&shelf, &ben(), &new, Some("a secret"))), ErrorKind::Sealed);
    assert_eq!(kind_of(shelf.ports().log.append(&ben(), std::slice::from_ref(&new))), ErrorKind::Sealed);
    assert_eq!(kind_of(shelf.keep(&ben(), note(Audience::Team, "a secret"), NOW)), ErrorKind::Sealed);
    assert_eq!(kind_of(shelf.keep(&ben(), note(Audience::Author, "a secret"), NOW)), ErrorKind::Sealed);
    assert_eq!(shelf.ports().blobs.get(&ben(), &TextKey::of(b"a secret")).unwrap(), None);
    assert_eq!(take(&shelf, &ana(), &old, Some("from before")).unwrap(), position);

    let seal_id = record(&ana(), 0, old.body.clone()).id;
    assert_eq!(kind_of(shelf.forget(&ana(), seal_id, weir_core::WhyGone::Forgotten, NOW)), ErrorKind::Invalid);
    let removal = record(&ana(), 1, Body::forgets(seal_id));
    assert_eq!(kind_of(take(&shelf, &ana(), &removal, None)), ErrorKind::Invalid);
    assert!(shelf.is_sealed(&ana()).unwrap());
    assert_eq!(shelf.ports().log.head(&ana()).unwrap(), head);
    keep(&shelf, &scope("acme", "ana", "web"), "another project");
}

/// A sealed entry is given out as it came, is found by no search, and is gone once its author forgets it.
pub fn a_sealed_entry_is_kept_and_forgotten(new: NewShelf<'_>) {
    let shelf = new();
    let Sealer { identity, ring, key } = seal(&shelf, &ana());
    let clear = in_clear(&ana(), 100, "ten connections");
    let sealed = ring.seal(key, &identity, &clear, "ten connections").unwrap();
    for _ in 0..2 {
        take(&shelf, &ana(), &sealed, None).unwrap();
    }
    let read = shelf.read_since(&ben(), Position(0), 10).unwrap().records.pop().unwrap().record;
    assert_eq!(read, sealed);
    assert_eq!(ring.open(&read).unwrap().0.text, "ten connections");
    assert_eq!(found(&shelf, &ben(), "connections"), []);
    let forgotten = shelf.forget(&ana(), sealed.id, weir_core::WhyGone::Forgotten, NOW).unwrap();
    assert_eq!(forgotten.left, crate::Left::default());
    assert_eq!(shelf.ports().log.records(&ben(), &[sealed.id]).unwrap(), []);
}
