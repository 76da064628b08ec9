//! Properties of appending.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::{Author, Body, HostId, LogicalTime, MAX_READ_BYTES, Position, Readers, RecordId, Sender, TextKey};

/// Appending a record again returns its position and adds nothing.
pub fn appending_again_changes_nothing(new: NewShelf<'_>) {
    let shelf = new();
    let record = keep(&shelf, &ana(), "one");
    let log = &shelf.ports().log;
    let position = log.head(&ana()).unwrap();
    for _ in 0..2 {
        assert_eq!(log.append(&ana(), &[record.clone(), record.clone()]).unwrap(), [position, position]);
    }
    assert_eq!(log.head(&ana()).unwrap(), position);
    assert_eq!(shelf.read_since(&ana(), Position(0), 10).unwrap().records.len(), 1);
}

/// Two different records with the same host and index are a conflict, in the same project and in another one of the
/// tenant. Other tenants have their own hosts.
pub fn a_cloned_host_is_a_conflict(new: NewShelf<'_>) {
    let shelf = new();
    let host = shelf.writer().host();
    let clone = Shelf::new(shelf.ports().clone(), Writer::resume(host, 0, LogicalTime::ZERO));
    let record = keep(&shelf, &ana(), "the original");
    assert_eq!(kind_of(clone.keep(&ana(), note(Audience::Team, "the clone"), NOW)), ErrorKind::Conflict);
    assert_eq!(shelf.text(&ana(), record.id).unwrap().unwrap(), b"the original");

    let elsewhere = scope("acme", "ana", "web");
    let clone = Shelf::new(shelf.ports().clone(), Writer::resume(host, 0, LogicalTime::ZERO));
    assert_eq!(kind_of(clone.keep(&elsewhere, note(Audience::Team, "x"), NOW)), ErrorKind::Conflict);

    let other_tenant = scope("umbrella", "ana", "api");
    let clone = Shelf::new(shelf.ports().clone(), Writer::resume(host, 0, LogicalTime::ZERO));
    assert_eq!(clone.keep(&other_tenant, note(Audience::Team, "x"), NOW).unwrap().id, record.id);
}

/// A host belongs to the user who sent records of it first, in all projects of the tenant. Others are refused, and
/// nothing is left of what they sent. Nobody sends under ids that a server gives itself.
pub fn a_host_belongs_to_the_user_who_sent_from_it_first(new: NewShelf<'_>) {
    let (server, machine) = (new(), new());
    let (first, second) = (keep(&machine, &ana(), "first"), keep(&machine, &ana(), "second"));
    let send = |scope: &Scope, record: &Record, text: &str| {
        let one = Incoming::new(record.clone(), Some(text.as_bytes().to_vec()));
        server.import(scope, &[one], &Sender::Author, NOW).remove(0).map_err(|error| error.kind)
    };
    let by = |scope: &Scope, id: RecordId| Record {
        id,
        tenant: scope.tenant.clone(),
        project: scope.project.clone(),
        author: Author { user: scope.user.clone(), client: String::new() },
        ..second.clone()
    };
    let later = RecordId { index: 100, ..first.id };
    assert_eq!(send(&ana(), &first, "first"), Ok(Position(1)));
    for thief in [ben(), scope("acme", "ben", "web")] {
        assert_eq!(send(&thief, &by(&thief, later), "second"), Err(ErrorKind::ForeignHost));
        assert_eq!(server.ports().log.head(&thief).unwrap(), Position(u64::from(thief.project == ana().project)));
    }
    let other_server = beside(&server);
    keep(&other_server, &ana(), "by the other server");
    for host in [server.writer().host(), other_server.writer().host()] {
        let of_server = RecordId { host, index: 100 };
        assert_eq!(send(&ana(), &by(&ana(), of_server), "second"), Err(ErrorKind::ForeignHost));
    }
    assert_eq!(server.ports().blobs.get(&ana(), &TextKey::of(b"second")).unwrap(), None);
    assert_eq!(send(&ana(), &second, "second"), Ok(Position(3)));
    let elsewhere = scope("acme", "ana", "web");
    assert_eq!(send(&elsewhere, &by(&elsewhere, later), "second"), Ok(Position(1)));
    let stranger = scope("umbrella", "ben", "api");
    assert_eq!(send(&stranger, &by(&stranger, later), "second"), Ok(Position(1)));
}

/// A host whose records were taken before hosts were bound belongs to their author, and one with records of several
/// users, which is that of a server, to nobody.
pub fn a_host_with_records_belongs_to_their_author(new: NewShelf<'_>) {
    let (shelf, machine, server) = (new(), new(), new());
    let log = &shelf.ports().log;
    // Appended as an earlier version does, without a word about their hosts.
    let earlier = |from: &Shelf, scope: &Scope| {
        let record = keep(from, scope, "earlier");
        log.append(scope, std::slice::from_ref(&record)).unwrap();
        record.id.host
    };
    let of_ana = earlier(&machine, &ana());
    let of_server = earlier(&server, &ana());
    assert_eq!(earlier(&server, &ben()), of_server);
    let unused = HostId::random().unwrap();
    let sorted = |mut hosts: Vec<HostId>| {
        hosts.sort_unstable();
        hosts
    };
    let all = [of_ana, of_server, unused, of_ana];
    for _ in 0..2 {
        assert_eq!(log.bind_hosts(&ben(), &all).unwrap(), sorted(vec![of_ana, of_server]));
        assert_eq!(log.bind_hosts(&ana(), &all).unwrap(), sorted(vec![of_server, unused]));
    }
    assert_eq!(log.bind_hosts(&scope("umbrella", "eve", "api"), &all).unwrap(), []);
}

/// If one record of a call is refused, none of them is appended, and no removal among them has erased anything.
pub fn an_append_is_all_or_nothing(new: NewShelf<'_>) {
    let shelf = new();
    let log = &shelf.ports().log;
    let first = keep(&shelf, &ana(), "first");
    let second = keep(&shelf, &ana(), "second");
    let head = log.head(&ana()).unwrap();
    let numbered = |index, body: Body| Record { id: RecordId { index, ..first.id }, body, ..first.clone() };
    let fresh = numbered(100, first.body.clone());
    let removal = numbered(101, Body::forgets(first.id));
    let conflict = Record { time: LogicalTime::ZERO, ..second };
    let refused = log.append(&ana(), &[fresh.clone(), removal, conflict]);
    assert_eq!(kind_of(refused), ErrorKind::Conflict);
    assert_eq!(log.head(&ana()).unwrap(), head);
    assert_eq!(log.records(&ana(), &[fresh.id]).unwrap(), []);
    assert_eq!(log.records(&ana(), &[first.id]).unwrap().len(), 1);
    assert_eq!(log.append(&ana(), &[fresh]).unwrap(), [Position(head.0 + 1)]);
}

/// A reader that follows the log while several machines append gets every record once, in order.
pub fn a_cursor_never_skips_while_others_append(new: NewShelf<'_>) {
    const WRITERS: usize = 4;
    const EACH: usize = 25;
    let shelf = new();
    let over = AtomicBool::new(false);
    let seen = std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            let (mut at, mut seen) = (Position(0), Vec::new());
            loop {
                // What is appended after this is read is not waited for.
                let is_over = over.load(Ordering::SeqCst);
                let batch = shelf.ports().log.read_since(&ana(), at, 7, Readers::Scope).unwrap();
                assert!(batch.next >= at);
                let is_end = batch.next == at;
                at = batch.next;
                seen.extend(batch.records);
                if is_over && is_end {
                    return seen;
                }
                std::thread::yield_now();
            }
        });
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (shelf, ports) = (&shelf, shelf.ports().clone());
                threads.spawn(move || {
                    // Half of them append to a project of their own, which has its own head.
                    let place = if writer % 2 == 0 { ana() } else { scope("acme", "ana", &format!("own-{writer}")) };
                    let own = Shelf::new(ports, Writer::new().unwrap());
                    for number in 0..EACH {
                        keep(if number % 5 == 0 { shelf } else { &own }, &place, &format!("{writer} {number}"));
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        over.store(true, Ordering::SeqCst);
        reader.join().unwrap()
    });
    let positions: Vec<u64> = seen.iter().map(|stored| stored.position.0).collect();
    let expected: Vec<u64> = (1..=(WRITERS / 2 * EACH) as u64).collect();
    assert_eq!(positions, expected);
}

/// A cursor moves past records that its reader may not see, and past erased ones.
pub fn a_cursor_goes_past_what_it_does_not_show(new: NewShelf<'_>) {
    let shelf = new();
    let private = |text: &str| shelf.keep(&ana(), note(Audience::Author, text), NOW).unwrap();
    let hidden: Vec<Record> = (0..5).map(|number| private(&format!("hidden {number}"))).collect();
    let shown = keep(&shelf, &ana(), "shown");
    private("hidden last");
    shelf.forget(&ana(), hidden[0].id, weir_core::WhyGone::Forgotten, NOW).unwrap();
    let head = shelf.ports().log.head(&ben()).unwrap();
    let first = shelf.read_since(&ben(), Position(0), 1).unwrap();
    assert_eq!(first.records.iter().map(|stored| stored.record.id).collect::<Vec<_>>(), [shown.id]);
    let rest = shelf.read_since(&ben(), first.next, 1).unwrap();
    assert_eq!((rest.records.len(), rest.next), (0, head));
    assert_eq!(shelf.read_since(&ben(), Position(3), 0).unwrap().next, Position(3));
}

/// A cursor of a log that was put back to an older state is refused instead of silently waiting for the log to grow.
pub fn a_position_beyond_the_head_is_refused(new: NewShelf<'_>) {
    let shelf = new();
    keep(&shelf, &ana(), "one");
    assert_eq!(kind_of(shelf.read_since(&ana(), Position(2), 10)), ErrorKind::Ahead);
    assert_eq!(shelf.read_since(&ana(), Position(1), 10).unwrap().next, Position(1));
}

/// A batch ends with the record that reaches the limit in bytes, and the next one begins after it.
pub fn a_batch_is_bounded_in_bytes(new: NewShelf<'_>) {
    let shelf = new();
    let (first, host) = (keep(&shelf, &ana(), "first"), HostId::random().unwrap());
    let large = |index| {
        let mut kept = first.body.kept().unwrap().clone();
        kept.title = "word ".repeat(MAX_READ_BYTES / 10);
        Record { id: RecordId { host, index }, body: Body::Kept(Box::new(kept)), ..first.clone() }
    };
    let appended: Vec<RecordId> = (0..5).map(|index| RecordId { host, index }).collect();
    for id in &appended {
        shelf.ports().log.append(&ana(), &[large(id.index)]).unwrap();
    }
    let (mut at, mut read, mut sizes) = (Position(1), Vec::new(), Vec::new());
    while at < Position(6) {
        let batch = shelf.ports().log.read_since(&ben(), at, 100, Readers::Scope).unwrap();
        assert_eq!(batch.head, Position(6));
        sizes.push(batch.records.len());
        read.extend(batch.records.iter().map(|stored| stored.record.id));
        at = batch.next;
    }
    assert_eq!((read, sizes), (appended, vec![2, 2, 1]));
}

/// A request that is repeated is kept once, for its user in its tenant and for a day, and after the note was forgotten
/// too. Another request with the same name is told apart.
pub fn a_repeated_request_is_kept_once(new: NewShelf<'_>) {
    use crate::{KeptOnce, RequestKey};
    let shelf = new();
    let keep = |scope: &Scope, name: &str, text: &str, later: i64| {
        let now = Timestamp(NOW.0 + later);
        let key = RequestKey::new(&scope.user, name, text, now);
        let before = shelf.ports().log.request(scope, &key).unwrap();
        let kept = shelf.keep_once(scope, note(Audience::Team, text), &key, now).unwrap();
        match (&kept, before) {
            (KeptOnce::New(_), None) | (KeptOnce::Other, Some(crate::Once::Other)) => {}
            (KeptOnce::Before(record), Some(crate::Once::Before(known))) => assert_eq!(*record, known),
            other => panic!("{other:?}"),
        }
        kept
    };
    let KeptOnce::New(first) = keep(&ana(), "a", "once", 0) else { panic!("the key is new") };
    let again = KeptOnce::Before(first.id);
    assert_eq!([keep(&ana(), "a", "once", 1_000), keep(&ana(), "a", "twice", 0)], [again.clone(), KeptOnce::Other]);
    assert_eq!(keep(&scope("acme", "ana", "web"), "a", "once", 0), again);
    for other in [ben(), scope("umbrella", "ana", "api")] {
        assert!(matches!(keep(&other, "a", "once", 0), KeptOnce::New(_)), "{other:?}");
    }
    assert!(matches!(keep(&ana(), "b", "once", 0), KeptOnce::New(_)));
    assert_eq!(found(&shelf, &ana(), "once").len(), 3);
    assert_eq!(found(&shelf, &ana(), "twice"), []);
    assert_eq!(shelf.ports().blobs.get(&ana(), &TextKey::of(b"twice")).unwrap(), None);

    let KeptOnce::New(gone) = keep(&ana(), "c", "ephemeral", 0) else { panic!("the key is new") };
    shelf.forget(&ana(), gone.id, weir_core::WhyGone::Forgotten, NOW).unwrap();
    assert_eq!(keep(&ana(), "c", "ephemeral", 0), KeptOnce::Before(gone.id));
    assert_eq!(shelf.ports().blobs.get(&ana(), &TextKey::of(b"ephemeral")).unwrap(), None);
    // A day later the name can be used again.
    let day = 24 * 60 * 60 * 1000;
    assert_eq!(keep(&ana(), "a", "once", day), again);
    assert!(matches!(keep(&ana(), "a", "another", day + 1), KeptOnce::New(_)));
}
