//! Properties of what is read back: records, texts, and what later records say about them.

use proptest::prelude::prop;
use weir_core::{NoteKind, Origin, Reference};

use super::*;
use crate::{Confirmation, KeptRecord, MAX_ABOUT, NoteFields, NoteFile};

/// A record is read back as it was kept, by its id and by its reference.
pub fn what_is_kept_is_read_back(new: NewShelf<'_>) {
    let shelf = new();
    let fields = NoteFields {
        kind: NoteKind::Decision,
        topic: Some("pool".into()),
        files: vec![NoteFile { path: "src/db.rs".into(), hash: "00".into() }],
        commit: Some("c".into()),
        branch: None,
    };
    let reference = Reference::from_bits(77);
    let given = NewRecord {
        origin: Origin::Model,
        source: Some("src/db.rs".into()),
        note: Some(fields.clone()),
        reference: Some(reference),
        ..note(Audience::Team, "")
    };
    let kept = shelf.keep(&ana(), given, NOW).unwrap();
    let read = shelf.get(&ben(), kept.id).unwrap().unwrap();
    assert_eq!(read, KeptRecord { record: kept.clone(), superseded_by: None, confirmed: Vec::new(), has_more: false });
    assert_eq!(shelf.find(&ben(), reference, 10).unwrap(), std::slice::from_ref(&read));
    let entry = read.entry().unwrap();
    assert_eq!((entry.note.as_ref(), entry.origin, entry.bytes), (Some(&fields), Origin::Model, 0));
    assert_eq!(shelf.text(&ben(), kept.id).unwrap().unwrap(), b"");
    assert_eq!(shelf.find(&ben(), Reference::from_bits(78), 10).unwrap(), []);
    assert_eq!(shelf.get(&ben(), crate::RecordId { index: 999, ..kept.id }).unwrap(), None);
}

/// Of many records with one reference, the oldest that the reader sees are given out, up to the number asked for.
pub fn a_reference_names_the_oldest_that_the_reader_sees(new: NewShelf<'_>) {
    let (shelf, reference) = (new(), Reference::from_bits(77));
    let with_reference = |audience, text: &str| NewRecord { reference: Some(reference), ..note(audience, text) };
    let keep = |scope: &Scope, audience| shelf.keep(scope, with_reference(audience, "named"), NOW).unwrap().id;
    let hidden = keep(&ana(), Audience::Author);
    let shown: Vec<crate::RecordId> = (0..5).map(|_| keep(&ana(), Audience::Team)).collect();
    let found = |reader: &Scope, limit| -> Vec<crate::RecordId> {
        shelf.find(reader, reference, limit).unwrap().iter().map(|kept| kept.record.id).collect()
    };
    for limit in 0..7 {
        assert_eq!(found(&ben(), limit), shown[..limit.min(5)]);
    }
    assert_eq!(found(&ana(), 2), [hidden, shown[0]]);
    assert_eq!(found(&ana(), usize::MAX).len(), 6);
}

/// A superseded record names its successor and ranks after it. If the successor goes, it stands again.
pub fn what_supersedes_is_named_and_ranks_first(new: NewShelf<'_>) {
    let shelf = new();
    let old = keep(&shelf, &ana(), "pool pool pool pool: ten");
    let by = keep(&shelf, &ben(), "pool: twenty connections for each of the workers");
    assert_eq!(found(&shelf, &ana(), "pool")[0].id, old.id);
    shelf.supersede(&ben(), old.id, by.id, NOW).unwrap();
    let order: Vec<_> = found(&shelf, &ana(), "pool").iter().map(|record| record.id).collect();
    assert_eq!(order, [by.id, old.id]);
    assert_eq!(shelf.get(&ana(), old.id).unwrap().unwrap().superseded_by, Some(by.id));
    assert_eq!(shelf.get(&ana(), by.id).unwrap().unwrap().superseded_by, None);
    assert_eq!(kind_of(shelf.supersede(&ana(), old.id, old.id, NOW)), ErrorKind::Invalid);

    shelf.forget(&ben(), by.id, weir_core::WhyGone::Forgotten, NOW).unwrap();
    assert_eq!(shelf.get(&ana(), old.id).unwrap().unwrap().superseded_by, None);
}

/// A note for its author alone supersedes a team's note for nobody else.
pub fn a_private_successor_supersedes_only_for_its_author(new: NewShelf<'_>) {
    let shelf = new();
    let old = keep(&shelf, &ana(), "for all");
    let by = shelf.keep(&ben(), note(Audience::Author, "for ben"), NOW).unwrap();
    assert_eq!(shelf.supersede(&ben(), old.id, by.id, NOW).unwrap().audience, Audience::Author);
    assert_eq!(shelf.get(&ben(), old.id).unwrap().unwrap().superseded_by, Some(by.id));
    assert_eq!(shelf.get(&ana(), old.id).unwrap().unwrap().superseded_by, None);
    assert_eq!(kind_of(shelf.supersede(&ana(), old.id, by.id, NOW)), ErrorKind::Missing);
}

/// Each user confirms once, and everyone sees who did. A confirmation can be withdrawn.
pub fn a_confirmation_names_its_user(new: NewShelf<'_>) {
    let shelf = new();
    let record = keep(&shelf, &ana(), "true");
    let confirmed = |users: &[&str]| -> Vec<Confirmation> {
        users.iter().map(|user| Confirmation { by: UserId((*user).into()), at: NOW }).collect()
    };
    let first = shelf.confirm(&ben(), record.id, NOW).unwrap();
    shelf.confirm(&ben(), record.id, NOW).unwrap();
    shelf.confirm(&ana(), record.id, NOW).unwrap();
    assert_eq!(shelf.get(&ana(), record.id).unwrap().unwrap().confirmed, confirmed(&["ben", "ana"]));
    assert_eq!(kind_of(shelf.confirm(&ana(), first.id, NOW)), ErrorKind::Invalid);

    let own = shelf.ports().log.about(&ana(), &[record.id], MAX_ABOUT).unwrap();
    let own = own.iter().find(|stored| stored.record.author.user == ana().user).unwrap();
    shelf.forget(&ana(), own.record.id, weir_core::WhyGone::Forgotten, NOW).unwrap();
    assert_eq!(shelf.get(&ana(), record.id).unwrap().unwrap().confirmed, confirmed(&["ben"]));
}

/// However often a record is confirmed, as many records about it are read, the newest, and that there are more is said.
pub fn what_is_said_about_a_record_is_limited(new: NewShelf<'_>) {
    let shelf = new();
    let (record, other, newer) =
        (keep(&shelf, &ana(), "one"), keep(&shelf, &ana(), "two"), keep(&shelf, &ana(), "new"));
    shelf.confirm(&ana(), record.id, NOW).unwrap();
    shelf.confirm(&ana(), other.id, NOW).unwrap();
    // The record that counts is neither the oldest nor the newest.
    for number in 1..MAX_ABOUT {
        if number == 2 {
            shelf.supersede(&ben(), record.id, newer.id, NOW).unwrap();
        } else {
            shelf.confirm(&ben(), record.id, NOW).unwrap();
        }
    }
    let read = |id| shelf.get(&ana(), id).unwrap().unwrap();
    assert_eq!((read(record.id).has_more, read(record.id).confirmed.len()), (false, 2));
    shelf.confirm(&ben(), record.id, NOW).unwrap();
    let kept = read(record.id);
    assert_eq!((kept.has_more, kept.confirmed.len(), kept.superseded_by), (true, 1, Some(newer.id)));
    assert_eq!((read(other.id).has_more, read(other.id).confirmed.len()), (false, 1));
    let log = &shelf.ports().log;
    let about = |limit| -> Vec<u64> {
        let found = log.about(&ana(), &[record.id, other.id], limit).unwrap();
        found.iter().map(|stored| stored.position.0).collect()
    };
    let head = log.head(&ana()).unwrap().0;
    assert_eq!((about(0), about(2)), (vec![], vec![5, head - 1, head]));
    assert_eq!(log.about(&ana(), &[record.id], MAX_ABOUT).unwrap().len(), MAX_ABOUT);
}

/// Topics that differ little, or look like something else to a database.
const TOPICS: [&str; 9] =
    ["pool", "Pool", "pool ", "", "größe", "%", "a\"b\\c", "the escape \\u0000", "'; DROP TABLE records; --"];

/// A topic names the notes on it that the reader sees and that are not erased, the newest, in the order of the log.
pub fn notes_are_found_by_their_topic(new: NewShelf<'_>) {
    let one = (0..4usize, 0..TOPICS.len(), prop::bool::ANY, 0..5usize);
    for_all(3, prop::collection::vec(one, 1..20), |plan| {
        let shelf = new();
        let places = [ana(), ben(), scope("acme", "ana", "web"), scope("umbrella", "ana", "api")];
        let mut kept: Vec<(Scope, &str, Record)> = Vec::new();
        for (place, topic, for_team, chance) in plan {
            let (place, topic) = (&places[place], TOPICS[topic]);
            // What is about an entry has no topic, and moves the positions of what follows.
            if chance == 1 && kept.last().is_some_and(|(last, ..)| last == place) {
                shelf.confirm(place, kept[kept.len() - 1].2.id, NOW).unwrap();
            }
            let audience = if for_team { Audience::Team } else { Audience::Author };
            let fields = NoteFields {
                kind: NoteKind::Finding,
                topic: Some(topic.into()),
                files: Vec::new(),
                commit: None,
                branch: None,
            };
            let record = shelf.keep(place, NewRecord { note: Some(fields), ..note(audience, topic) }, NOW).unwrap();
            if chance == 0 {
                shelf.forget(place, record.id, weir_core::WhyGone::Forgotten, NOW).unwrap();
            } else {
                kept.push((place.clone(), topic, record));
            }
            // Neither a note without a topic nor one that names it elsewhere is on it.
            if chance == 2 {
                keep(&shelf, place, topic);
            }
        }
        for reader in &places {
            TOPICS.iter().for_each(|topic| check_topic(&shelf, reader, topic, &kept));
            check_look_ups(&shelf, reader, &kept);
            assert_eq!(shelf.ports().log.on_topics(reader, &["of nobody"], 10).unwrap(), []);
        }
    });
}

fn check_topic(shelf: &Shelf, reader: &Scope, topic: &str, kept: &[(Scope, &str, Record)]) {
    let is_seen = |maker: &Scope, record: &Record| {
        let same_project = (&maker.tenant, &maker.project) == (&reader.tenant, &reader.project);
        same_project && (record.audience == Audience::Team || maker.user == reader.user)
    };
    let seen = kept.iter().filter(|(maker, of, record)| *of == topic && is_seen(maker, record));
    let expected: Vec<crate::RecordId> = seen.map(|(.., record)| record.id).collect();
    for limit in [0, 1, 2, 1_000, usize::MAX] {
        let found = shelf.ports().log.on_topics(reader, &[topic], limit).unwrap();
        assert!(found.is_sorted_by_key(|stored| stored.position));
        let found: Vec<crate::RecordId> = found.iter().map(|stored| stored.record.id).collect();
        assert_eq!(found, expected[expected.len().saturating_sub(limit)..], "`{topic}` by {reader:?}, {limit}");
    }
}

/// Look-ups that belong together find what the log finds one by one, in the place of their scope and nowhere else.
fn check_look_ups(shelf: &Shelf, reader: &Scope, kept: &[(Scope, &str, Record)]) {
    let log = &shelf.ports().log;
    let ids: Vec<crate::RecordId> = kept.iter().map(|(.., record)| record.id).collect();
    let by_position = |mut found: Vec<crate::StoredRecord>| {
        found.sort_by_key(|stored| stored.position);
        found
    };
    let mut look_ups = log.look_ups(reader);
    for limit in [0, 2, usize::MAX] {
        let one_by_one = |topic: &&str| log.on_topics(reader, &[*topic], limit).unwrap();
        let expected = by_position(TOPICS.iter().flat_map(one_by_one).collect());
        assert_eq!(look_ups.on_topics(&TOPICS, limit).unwrap(), expected, "{limit} by {reader:?}");
        assert_eq!(log.on_topics(reader, &TOPICS, limit).unwrap(), expected, "{limit} by {reader:?}");
        assert_eq!(look_ups.about(&ids, limit).unwrap(), log.about(reader, &ids, limit).unwrap());
    }
    let found = by_position(look_ups.records(&ids).unwrap());
    assert_eq!(found, by_position(log.records(reader, &ids).unwrap()));
    assert_eq!(look_ups.records(&[]).unwrap(), []);
    let together = shelf.get_all(reader, &ids).unwrap();
    let one_by_one: Vec<KeptRecord> = ids.iter().filter_map(|id| shelf.get(reader, *id).unwrap()).collect();
    assert_eq!(together, one_by_one);
}

/// Texts that are read together are those that are read one by one, in their order; what is not stored has none.
pub fn texts_are_read_together(new: NewShelf<'_>) {
    let shelf = new();
    let (reader, blobs) = (ana(), &shelf.ports().blobs);
    let mut keys: Vec<crate::TextKey> =
        (0..100).map(|number| blobs.put(&reader, format!("text {number}").as_bytes()).unwrap()).collect();
    keys.push(blobs.put(&reader, &vec![b'x'; 3 << 20]).unwrap());
    keys.insert(50, crate::TextKey::of(b"not stored"));
    let one_by_one: Vec<_> = keys.iter().map(|key| blobs.get(&reader, key).unwrap()).collect();
    let together: Vec<_> = blobs.get_all(&reader, &keys).into_iter().map(Result::unwrap).collect();
    assert_eq!(together.iter().filter(|text| text.is_none()).count(), 1);
    assert!(together == one_by_one);
    for range in [0..0, 0..4, 2..9, (1 << 20) - 1..(1 << 20) + 1, 9 << 20..10 << 20] {
        let parts: Vec<crate::TextPart> =
            keys.iter().map(|key| crate::TextPart { key: *key, range: range.clone() }).collect();
        let together: Vec<_> = blobs.range_all(&reader, &parts).into_iter().map(Result::unwrap).collect();
        let one_by_one: Vec<_> = keys.iter().map(|key| blobs.range(&reader, key, range.clone()).unwrap()).collect();
        assert!(together == one_by_one, "{range:?}");
        assert_eq!(together.iter().filter(|text| text.is_none()).count(), 1);
    }
    assert_eq!((blobs.get_all(&reader, &[]).len(), blobs.range_all(&reader, &[]).len()), (0, 0));
}

/// A secret is in no port: not in the text, not in the title, the source or the topic.
pub fn secrets_are_redacted_before_they_are_kept(new: NewShelf<'_>) {
    let shelf = new();
    let secret = "Xk93jfQpLmZ81vbTnR24";
    let line = format!("export API_KEY={secret}");
    let mut given = note(Audience::Team, &line);
    given.title.clone_from(&line);
    given.source = Some(line.clone());
    let topic = Some(line);
    given.note = Some(NoteFields { kind: NoteKind::Finding, topic, files: Vec::new(), commit: None, branch: None });
    let kept = shelf.keep(&ana(), given, NOW).unwrap();
    assert!(!kept.to_json().unwrap().contains(secret));
    let text = shelf.text(&ana(), kept.id).unwrap().unwrap();
    assert!(!String::from_utf8(text).unwrap().contains(secret));
    assert_eq!(found(&shelf, &ana(), secret), []);
    assert_eq!(found(&shelf, &ana(), "export").len(), 1);
}

/// Texts in any script, and bytes that are no text, come back byte for byte; words of each script are found.
pub fn texts_of_every_script_come_back_and_are_found(new: NewShelf<'_>) {
    let shelf = new();
    let texts = [
        ("Größe und Straße", "straße"),
        ("数据库连接池的大小", "连接池"),
        ("データベース接続", "接続"),
        ("размер пула соединений", "ПУЛА"),
        ("حجم تجمع الاتصالات", "تجمع"),
        ("🦀 crab \u{200d} zero\0byte", "crab"),
        ("parseHTTPRequest(url)", "request"),
    ];
    for (text, word) in texts {
        let given = NewRecord { title: "t".into(), ..note(Audience::Team, text) };
        let kept = shelf.keep(&ana(), given, NOW).unwrap();
        assert_eq!(shelf.text(&ben(), kept.id).unwrap().unwrap(), text.as_bytes());
        let hits = found(&shelf, &ben(), word);
        assert!(hits.iter().any(|record| record.id == kept.id), "{word} in {text}");
    }
    let bytes = vec![0xff, 0xfe, 0, 1, 0x80];
    let binary = NewRecord { text: bytes.clone(), title: "raw bytes".into(), ..note(Audience::Team, "") };
    let kept = shelf.keep(&ana(), binary, NOW).unwrap();
    assert_eq!(shelf.text(&ben(), kept.id).unwrap().unwrap(), bytes);
    assert_eq!(found(&shelf, &ben(), "raw").len(), 1);
}

/// A text of three megabytes is read by any range, also across and beyond its ends, and found by a word at its end.
pub fn long_texts_are_read_by_range(new: NewShelf<'_>) {
    let shelf = new();
    let mut text = String::new();
    for number in 0..150_000 {
        text.push_str(&format!("line {number:>14}\n"));
    }
    text.push_str("the needle\n");
    assert!(text.len() > 3_000_000);
    let kept = keep(&shelf, &ana(), &text);
    let (bytes, end) = (text.as_bytes(), text.len() as u64);
    let mib = 1u64 << 20;
    let ranges = [
        0..0,
        0..1,
        0..10,
        mib - 1..mib,
        mib - 1..mib + 1,
        mib..mib + 1,
        mib..2 * mib,
        5..2 * mib + 7,
        end - 1..end,
        end - 1..end + 9,
        end..end + 9,
        end + 5..end + 9,
        0..u64::MAX,
        u64::MAX - 1..u64::MAX,
    ];
    for range in ranges {
        let expected = &bytes[range.start.min(end) as usize..range.end.min(end) as usize];
        let read = shelf.text_range(&ben(), kept.id, range.clone()).unwrap().unwrap();
        assert!(read == expected, "{range:?}: {} bytes instead of {}", read.len(), expected.len());
    }
    let backwards = std::ops::Range { start: 10, end: 5 };
    assert_eq!(shelf.text_range(&ben(), kept.id, backwards).unwrap().unwrap(), b"");
    assert!(shelf.text(&ben(), kept.id).unwrap().unwrap() == bytes);
    assert_eq!(found(&shelf, &ben(), "needle").len(), 1);
}

/// The same text in two tenants is two texts; names of tenants cannot be paths.
pub fn a_text_belongs_to_its_tenant(new: NewShelf<'_>) {
    let shelf = new();
    let blobs = &shelf.ports().blobs;
    let tenants = ["acme", "umbrella", "", "../acme", "acme/..", "a\0b", "ACME"];
    let key = blobs.put(&scope("acme", "ana", "api"), b"same").unwrap();
    for tenant in &tenants[1..] {
        assert_eq!(blobs.get(&scope(tenant, "ana", "api"), &key).unwrap(), None, "{tenant}");
        assert!(!blobs.delete(&scope(tenant, "ana", "api"), &key).unwrap());
    }
    for tenant in tenants {
        assert_eq!(blobs.put(&scope(tenant, "ana", "api"), b"same").unwrap(), key);
    }
    assert!(blobs.delete(&scope("umbrella", "x", "y"), &key).unwrap());
    assert_eq!(blobs.range(&scope("umbrella", "x", "y"), &key, 0..4).unwrap(), None);
    assert_eq!(blobs.get(&scope("acme", "x", "y"), &key).unwrap().unwrap(), b"same");
}
