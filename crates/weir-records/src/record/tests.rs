//! Tests the written form of records, and the rule of who sees one.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::id::HostId;
use crate::sealed::{Grant, Identity, KeyId};

fn record(body: Body) -> Record {
    Record {
        id: RecordId { host: HostId::from_bytes([7; 16]), index: 3 },
        time: LogicalTime { millis: 1_700_000_000_000, count: 2 },
        tenant: TenantId("acme".into()),
        project: ProjectKey("api".into()),
        author: Author { user: UserId("ana".into()), client: "claude-code".into() },
        audience: Audience::Team,
        body,
    }
}

fn kept() -> Body {
    Body::Kept(Box::new(Kept {
        reference: Reference::from_bits(5),
        kind: EntryKind::Note,
        origin: Origin::Model,
        title: "pool \"size\"\u{2028}é".into(),
        source: Some("src/db.rs".into()),
        note: Some(NoteFields {
            kind: NoteKind::Decision,
            topic: Some("pool".into()),
            files: vec![NoteFile { path: "src/db.rs".into(), hash: "00".into() }],
            commit: None,
            branch: Some("main".into()),
        }),
        text: TextKey::of(b"ten"),
        bytes: 3,
    }))
}

fn key() -> KeyId {
    KeyId::parse(&"05".repeat(16)).unwrap()
}

fn grant() -> Grant {
    Grant { member: Identity::random().unwrap().public(), user: "ana".into(), key: "AAAA".into() }
}

fn granted() -> KeyGrants {
    let grant = grant();
    KeyGrants {
        by: grant.member,
        after: Vec::new(),
        removed: Vec::new(),
        key: key(),
        older: "AAAA".into(),
        grants: vec![grant],
        signature: "00".into(),
    }
}

fn bodies() -> Vec<Body> {
    let other = |index| RecordId { host: HostId::from_bytes([9; 16]), index };
    vec![
        kept(),
        Body::Superseded { old: other(1), by: other(2) },
        Body::Confirmed { record: other(1), by: UserId("ana".into()) },
        Body::forgets(other(1)),
        Body::Removed { record: other(1), why: WhyGone::Forgotten, as_admin: true },
        Body::Sealed(Box::new(SealedEntry { key: key(), content: "AAAA".into() })),
        Body::Granted(Box::new(granted())),
    ]
}

#[test]
fn a_record_is_written_like_this() {
    let expected: Expect = expect![[
        r#"{"format":1,"id":"07070707070707070707070707070707-3","time":{"millis":1700000000000,"count":2},"tenant":"acme","project":"api","author":{"user":"ana","client":"claude-code"},"audience":"team","body":{"superseded":{"old":"09090909090909090909090909090909-1","by":"09090909090909090909090909090909-2"}}}"#
    ]];
    expected.assert_eq(&record(bodies().swap_remove(1)).to_json().unwrap());
}

#[test]
fn every_body_is_read_back_and_written_the_same_again() {
    for body in bodies() {
        let json = record(body).to_json().unwrap();
        assert_eq!(Record::from_json(&json).unwrap().to_json().unwrap(), json);
    }
}

fn refusal(json: &str) -> PortError {
    Record::from_json(json).unwrap_err()
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let json = record(kept()).to_json().unwrap().replace("\"format\":1", "\"format\":4");
    let error = refusal(&json);
    assert_eq!(error.kind, ErrorKind::Newer);
    expect!["cannot read a record: a newer version of Weir wrote it (it has format 4, and this version reads up to 3; update Weir)"]
        .assert_eq(&error.to_string());
}

#[test]
fn an_unknown_field_is_refused_wherever_it_is() {
    for body in bodies() {
        let json = record(body).to_json().unwrap();
        assert!(Record::from_json(&json).is_ok());
        let places: Vec<usize> = json.match_indices('{').map(|(at, _)| at + 1).collect();
        for at in places {
            let widened = format!("{}\"colour\":\"red\",{}", &json[..at], &json[at..]);
            assert_eq!(refusal(&widened).kind, ErrorKind::Invalid, "{widened}");
        }
    }
}

#[test]
fn what_is_not_a_record_is_refused() {
    let json = record(kept()).to_json().unwrap();
    let broken = [
        String::new(),
        "null".into(),
        "[]".into(),
        "{}".into(),
        json.replace("\"format\":1,", ""),
        json.replace("\"format\":1", "\"format\":0"),
        // A record has one written form.
        json.replace("\"format\":1", "\"format\":2"),
        json.replace("\"team\"", "\"everybody\""),
        json.replace("\"note\",\"origin\"", "\"nonsense\",\"origin\""),
        json.replace("-3\"", "-03\""),
        json.replace(Reference::from_bits(5).as_str(), "[ctx:5000000000]"),
    ];
    for text in broken {
        assert_eq!(refusal(&text).kind, ErrorKind::Invalid, "{text}");
    }
}

#[test]
fn a_record_that_contradicts_itself_is_refused() {
    let own = record(kept());
    let scope = own.origin();
    let other = RecordId { index: 9, ..own.id };
    let wrong = [
        Body::Superseded { old: other, by: other },
        Body::Superseded { old: own.id, by: other },
        Body::Superseded { old: other, by: own.id },
        Body::Confirmed { record: other, by: UserId("ben".into()) },
        Body::forgets(own.id),
        Body::forgets(GRANTS),
        Body::Confirmed { record: GRANTS, by: UserId("ana".into()) },
        Body::Superseded { old: GRANTS, by: other },
    ];
    for body in wrong {
        assert_eq!(record(body).check(&scope).unwrap_err().kind, ErrorKind::Invalid);
    }
    for body in bodies() {
        record(body).check(&scope).unwrap();
    }
}

fn any_name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "a", "b"]).prop_map(str::to_owned)
}

proptest! {
    #[test]
    fn a_record_is_seen_by_its_author_or_by_the_team_of_its_project(
        made in (any_name(), any_name(), any_name()), read in (any_name(), any_name(), any_name()), team: bool
    ) {
        let scope = |(tenant, user, project): &(String, String, String)| Scope {
            tenant: TenantId(tenant.clone()),
            user: UserId(user.clone()),
            ..Scope::project(ProjectKey(project.clone()))
        };
        let (made, read) = (scope(&made), scope(&read));
        let record = Record {
            tenant: made.tenant.clone(),
            project: made.project.clone(),
            author: Author { user: made.user.clone(), client: String::new() },
            audience: if team { Audience::Team } else { Audience::Author },
            ..record(kept())
        };
        let same_place = read.tenant == made.tenant && read.project == made.project;
        prop_assert_eq!(record.is_visible(&read), same_place && (team || read.user == made.user));
        prop_assert!(record.is_visible(&made));
        prop_assert_eq!(record.check(&read).is_ok(), record.is_visible(&read));
    }

    #[test]
    fn reading_any_text_is_safe(text: String) {
        let _ = Record::from_json(&text);
    }
}
