//! Tests uploads and downloads.

use serde_json::{Value, json};
use weir_core::NoteKind;
use weir_records::{Audience, Body, Kept, NoteFields, NoteFile, TokenScope};

use super::support::{API, World, encoded, ids, kept, record, scope, upload, written};
use crate::support::NOW;

const SYNC: &str = "/v1/sync/records";

fn an_upload_can_be_repeated_and_a_download_misses_nothing(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    let texts = ["first", "second", "third", "fourth", "fifth"];
    let records: Vec<Value> = (0..).zip(texts).map(|(index, text)| written(&kept(&own, id(index), text))).collect();
    let send = |most: usize| server.post(SYNC, &token, &upload(API, &records[..most], &texts[..most])).ok(200);
    assert_eq!(send(3), json!({ "accepted": 3, "known": 0, "head": 3 }));
    assert_eq!(send(3), json!({ "accepted": 0, "known": 3, "head": 3 }));
    assert_eq!(send(5), json!({ "accepted": 2, "known": 3, "head": 5 }));
    let ben = server.token("acme", "ben", TokenScope::Read);
    for limit in [1, 2, 5, 500] {
        assert_eq!(server.download(&ben, API, limit), records, "{limit} at a time");
    }
}

fn a_cloned_host_is_a_conflict_and_the_other_records_are_taken(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    let first = written(&kept(&own, id(0), "original"));
    server.post(SYNC, &token, &upload(API, &[first], &["original"])).ok(200);
    let other = [written(&kept(&own, id(0), "of the clone")), written(&kept(&own, id(1), "good"))];
    let problem = server.post(SYNC, &token, &upload(API, &other, &["of the clone", "good"])).problem(409);
    assert_eq!((&problem["accepted"], &problem["known"], &problem["head"]), (&json!(1), &json!(0), &json!(2)));
    assert_eq!(problem["refused"][0]["id"], id(0).to_string(), "{problem}");
    assert_eq!(problem["title"], "Cloned host");
    // The same identity in another project is a clone as well, and in another tenant it is somebody else.
    let elsewhere = crate::support::scope("acme", "ana", "other");
    let body = upload("other", &[written(&kept(&elsewhere, id(0), "x"))], &["x"]);
    server.post(SYNC, &token, &body).problem(409);
    let stranger = server.token("umbrella", "ana", TokenScope::Write);
    let body = upload(API, &[written(&kept(&scope("umbrella", "ana"), id(0), "x"))], &["x"]);
    server.post(SYNC, &stranger, &body).ok(200);
}

fn a_host_of_another_user_is_refused_and_the_audit_has_it(world: &World) {
    let (server, id) = (world.server(), ids());
    let (ana, ben) = (server.token("acme", "ana", TokenScope::Write), server.token("acme", "ben", TokenScope::Write));
    let first = written(&kept(&scope("acme", "ana"), id(0), "first"));
    server.post(SYNC, &ana, &upload(API, &[first], &["first"])).ok(200);
    let own = scope("acme", "ben");
    let records = [written(&kept(&own, id(9), "under her host")), written(&kept(&own, ids()(0), "under his own"))];
    let body = upload(API, &records, &["under her host", "under his own"]);
    let problem = server.post(SYNC, &ben, &body).problem(409);
    assert_eq!((&problem["title"], &problem["accepted"]), (&json!("Host of another user"), &json!(1)), "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("needs a host of its own"), "{problem}");
    assert_eq!((&problem["refused_count"], &problem["refused"][0]["status"]), (&json!(1), &json!(409)), "{problem}");
    assert_eq!(problem["refused"][0]["id"], id(9).to_string(), "{problem}");
    let reason = problem["refused"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("its host belongs to another user"), "{problem}");
    let second = written(&kept(&scope("acme", "ana"), id(9), "hers"));
    server.post(SYNC, &ana, &upload(API, &[second], &["hers"])).ok(200);
    let setup = ["operator create tenant", "operator add token", "operator add token"];
    let uploads = ["ana bind host", "ana append", "ben bind host", "ben refuse host", "ben append", "ana append"];
    assert_eq!(world.audit("acme"), [&setup[..], &uploads].concat());
}

fn a_clock_that_is_ahead_is_refused_or_moves_at_most_its_own_tenant(world: &World) {
    const MINUTE: i64 = 60 * 1000;
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let (ana, eve) =
        (server.token("acme", "ana", TokenScope::Write), server.token("umbrella", "eve", TokenScope::Write));
    let send = |index: u64, minutes: i64| {
        let mut record = kept(&own, id(index), "ahead");
        record.time.millis = NOW.0 + minutes * MINUTE;
        server.post(SYNC, &ana, &upload(API, &[written(&record)], &["ahead"]))
    };
    // Returns by how many minutes a new note is ahead.
    let ahead = |token: &str| {
        let note = server.note(token, API, "on the server");
        let records = server.download(token, API, 100);
        let record = records.iter().find(|record| record["id"] == note.as_str()).unwrap();
        (record["time"]["millis"].as_i64().unwrap() - NOW.0) / MINUTE
    };
    let problem = send(0, 25 * 60).problem(422);
    let reason = problem["refused"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("its time is 25 hours ahead of the clock here, and at most 24 are taken"), "{problem}");
    assert!(reason.contains("set the clock of the machine"), "{problem}");
    send(1, 23 * 60).ok(200);
    assert_eq!((ahead(&ana), ahead(&eve)), (0, 0));
    send(2, 30).ok(200);
    assert_eq!((ahead(&ana), ahead(&eve)), (30, 0));
}

fn what_cannot_be_taken_is_named_one_by_one(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    let mut long = kept(&own, id(0), "long");
    if let Body::Kept(entry) = &mut long.body {
        entry.title = "x".repeat(300 << 10);
    }
    let mut newer = written(&kept(&own, id(1), "newer"));
    newer["format"] = json!(weir_records::FORMAT + 1);
    let mut unknown = written(&kept(&own, id(2), "unknown"));
    unknown["colour"] = json!("red");
    let textless = written(&kept(&own, id(3), "not sent"));
    let good = written(&kept(&own, id(4), "good"));
    let records = [written(&long), newer, unknown, textless, good, json!(7)];
    let body = upload(API, &records, &["long", "newer", "unknown", "good"]);
    let problem = server.post(SYNC, &token, &body).problem(422);
    assert_eq!((&problem["refused_count"], &problem["accepted"]), (&json!(5), &json!(1)), "{problem}");
    let reasons = problem["refused"].to_string();
    for word in ["too long", "update Weir", "colour", "its text is missing"] {
        assert!(reasons.contains(word), "{word}: {reasons}");
    }
    let unused = upload(API, &[], &["a text of nobody"]);
    server.post(SYNC, &token, &unused).problem(422);
    assert_eq!(server.download(&token, API, 10).len(), 1);
}

/// Returns the fields of a note that is about files with paths of this many bytes.
fn about_files(count: usize, path_bytes: usize) -> Option<NoteFields> {
    let file = |number: usize| NoteFile { path: format!("{number:0path_bytes$}"), hash: "0".repeat(64) };
    let files = (0..count).map(file).collect();
    Some(NoteFields { kind: NoteKind::Finding, topic: None, files, commit: None, branch: None })
}

fn a_field_that_no_machine_writes_is_refused(world: &World) {
    type Change<'a> = &'a dyn Fn(&mut Kept);
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    let long = || "x".repeat(20 << 10);
    let topic = NoteFields { topic: Some(long()), ..about_files(0, 0).unwrap() };
    let changes: [(&str, Change<'_>); 5] = [
        ("its title is too long", &|kept: &mut Kept| kept.title = long()),
        ("its source is too long", &|kept: &mut Kept| kept.source = Some(long())),
        ("its topic, commit or branch is too long", &|kept: &mut Kept| kept.note = Some(topic.clone())),
        ("it is about too many files", &|kept: &mut Kept| kept.note = about_files(1_001, 1)),
        ("the path of a file is too long", &|kept: &mut Kept| kept.note = about_files(1, 20 << 10)),
    ];
    for (index, (reason, change)) in (0..).zip(changes) {
        let mut record = kept(&own, id(index), "text");
        if let Body::Kept(entry) = &mut record.body {
            change(entry);
        }
        let problem = server.post(SYNC, &token, &upload(API, &[written(&record)], &["text"])).problem(422);
        assert!(problem["refused"].to_string().contains(reason), "{reason}: {problem}");
    }
    let mut confirmed = record(&own, id(9), Body::Confirmed { record: id(0), by: own.user.clone() });
    confirmed.author.client = long();
    let problem = server.post(SYNC, &token, &upload(API, &[written(&confirmed)], &[])).problem(422);
    assert!(problem["refused"].to_string().contains("the name of its client is too long"), "{problem}");
}

fn a_page_is_cut_by_the_size_of_its_records_and_misses_none(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    let heavy = |index| {
        let mut record = kept(&own, id(index), "text");
        if let Body::Kept(entry) = &mut record.body {
            entry.note = about_files(900, 150);
        }
        written(&record)
    };
    let records: Vec<Value> = (0..48).map(heavy).collect();
    for some in records.chunks(12) {
        server.post(SYNC, &token, &upload(API, some, &["text"])).ok(200);
    }
    let page = server.get(&format!("{SYNC}?project={}&limit=500", encoded(API)), &token);
    assert!(page.body.len() < 9 << 20, "a page of {} bytes", page.body.len());
    assert_eq!(page.ok(200)["more"], true);
    assert!(server.download(&token, API, 500) == records, "the pages have every record once, in order");
}

fn a_removal_from_a_machine_leaves_nothing(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let token = server.token("acme", "ana", TokenScope::Write);
    let secret = written(&kept(&own, id(0), "zanzibarian"));
    server.post(SYNC, &token, &upload(API, std::slice::from_ref(&secret), &["zanzibarian"])).ok(200);
    assert_eq!(server.search(&token, API, "zanzibarian"), ["zanzibarian"]);
    let removal = Body::forgets(id(0));
    let removal = written(&record(&own, id(1), removal));
    server.post(SYNC, &token, &upload(API, std::slice::from_ref(&removal), &[])).ok(200);
    assert_eq!(server.search(&token, API, "zanzibarian"), [""; 0]);
    assert_eq!(server.download(&token, API, 10), [removal]);
    // A machine that still has it cannot bring it back.
    let again = server.post(SYNC, &token, &upload(API, &[secret], &["zanzibarian"])).ok(200);
    assert_eq!((&again["accepted"], &again["known"]), (&json!(0), &json!(1)));
    assert_eq!(server.search(&token, API, "zanzibarian"), [""; 0]);
    // Another record with its id is not taken for it.
    let other = written(&kept(&own, id(0), "unrelated"));
    let refused = server.post(SYNC, &token, &upload(API, &[other], &["unrelated"])).problem(409);
    assert_eq!((&refused["known"], &refused["refused_count"]), (&json!(0), &json!(1)));
}

fn a_private_record_is_its_authors_alone(world: &World) {
    let (server, own, id) = (world.server(), scope("acme", "ana"), ids());
    let (ana, ben) = (server.token("acme", "ana", TokenScope::Write), server.token("acme", "ben", TokenScope::Write));
    let mut private = kept(&own, id(0), "reticent");
    private.audience = Audience::Author;
    server.post(SYNC, &ana, &upload(API, &[written(&private)], &["reticent"])).ok(200);
    assert_eq!((server.download(&ana, API, 10).len(), server.download(&ben, API, 10).len()), (1, 0));
    assert_eq!(server.search(&ana, API, "reticent"), ["reticent"]);
    assert_eq!(server.search(&ben, API, "reticent"), [""; 0]);
    server.get(&format!("/v1/entries/{}?project={}", id(0), encoded(API)), &ben).problem(404);
}

fn a_position_beyond_the_head_is_refused_with_what_to_do(world: &World) {
    let server = world.server();
    let token = server.token("acme", "ana", TokenScope::Read);
    let path = format!("{SYNC}?project={}&after=7", encoded(API));
    let problem = server.get(&path, &token).problem(409);
    assert!(problem["hint"].as_str().unwrap().contains("after=0"), "{problem}");
    for query in ["", "?project=", "?project=p&limit=0", "?project=p&limit=501", "?project=p&colour=red", "?after=x"] {
        server.get(&format!("{SYNC}{query}"), &token).problem(422);
    }
}

on_each_backend! {
    an_upload_can_be_repeated_and_a_download_misses_nothing,
    a_cloned_host_is_a_conflict_and_the_other_records_are_taken,
    a_host_of_another_user_is_refused_and_the_audit_has_it,
    a_clock_that_is_ahead_is_refused_or_moves_at_most_its_own_tenant,
    what_cannot_be_taken_is_named_one_by_one,
    a_field_that_no_machine_writes_is_refused,
    a_page_is_cut_by_the_size_of_its_records_and_misses_none,
    a_removal_from_a_machine_leaves_nothing,
    a_private_record_is_its_authors_alone,
    a_position_beyond_the_head_is_refused_with_what_to_do,
}
