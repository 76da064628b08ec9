//! The byte format of a spool record: one line of JSON, then the text of an output if there is one.

use serde_json::{Value, json};
use weir_core::run::{Ended, RunFacts};
use weir_core::{EntryKind, Event, EventKind, Level, Limits, NewEntry, Origin, Priority, Scope, SessionKey, Timestamp};

use crate::log::hook_days::{HookRun, Outcome, SeenOutput};
use crate::log::hooks::Guide;
use crate::redacted::{redact_labels, redacted_event, redacted_text};

/// What a hook could not write to the log.
#[derive(Debug, Clone, Default)]
pub struct SpoolRecord {
    /// The events that the hook reported.
    pub told: Vec<Event>,
    /// The record that the hook ran.
    pub seen: Option<HookRun>,
    /// An output to keep. Its text is already redacted.
    pub output: Option<NewEntry>,
    pub guide: Option<Guide>,
    pub guide_taken: bool,
    /// Whether the session no longer has the texts it was given.
    pub texts_lost: bool,
}

impl SpoolRecord {
    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
            && self.seen.is_none()
            && self.output.is_none()
            && self.guide.is_none()
            && !self.guide_taken
            && !self.texts_lost
    }
}

pub(crate) struct DecodedRecord {
    pub(crate) at: Timestamp,
    pub(crate) work: Option<String>,
    pub(crate) session: Option<SessionKey>,
    pub(crate) run_days: u32,
    pub(crate) page_days: u32,
    pub(crate) spooled: SpoolRecord,
}

/// Encodes a record. Everything except the text of an output is redacted here.
pub(super) fn encode(scope: &Scope, spooled: &SpoolRecord, limits: &Limits, at: Timestamp) -> Vec<u8> {
    let told: Vec<Value> = spooled.told.iter().map(redacted_event).map(|event| event_as_json(&event)).collect();
    let output = spooled.output.clone().map(|mut output| {
        redact_labels(&mut output);
        output
    });
    let guide = spooled.guide.as_ref();
    let record = json!({
        "version": 1,
        "at": at.0,
        "work": scope.work,
        "session": scope.session.as_ref().map(|session| [&session.client, &session.key]),
        "told": told,
        "seen": spooled.seen.as_ref().map(|seen| json!({
            "client": seen.client, "event": seen.event, "at": seen.at.0, "micros": seen.micros,
            "output": seen.output.map(|output| json!([output.outcome.as_str(), output.bytes])),
        })),
        "output": output.as_ref().map(output_as_json),
        "guide": guide.map(|guide| json!({ "text": redacted_text(&guide.text), "waiting": guide.waiting })),
        "guide_taken": spooled.guide_taken,
        "texts_lost": spooled.texts_lost,
        "run_days": limits.run_days,
        "page_days": limits.page_days,
    });
    let mut bytes = record.to_string().into_bytes();
    bytes.push(b'\n');
    bytes.extend(output.map(|output| output.text).unwrap_or_default());
    bytes
}

/// Decodes a record. Returns `None` if the bytes are not a record.
pub(super) fn decode(bytes: &[u8]) -> Option<DecodedRecord> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let record: Value = serde_json::from_slice(&bytes[..end]).ok()?;
    if record["version"] != 1 {
        return None;
    }
    let flag = |name: &str| record[name].as_bool();
    let days = |name: &str| record[name].as_u64().and_then(|days| u32::try_from(days).ok());
    let spooled = SpoolRecord {
        told: record["told"].as_array()?.iter().map(event_from_json).collect::<Option<_>>()?,
        seen: optional(&record["seen"], seen_from_json)?,
        output: optional(&record["output"], |output| output_from_json(output, &bytes[end + 1..]))?,
        guide: optional(&record["guide"], |guide| {
            Some(Guide { text: text(&guide["text"])?, waiting: guide["waiting"].as_bool()? })
        })?,
        guide_taken: flag("guide_taken")?,
        texts_lost: flag("texts_lost")?,
    };
    Some(DecodedRecord {
        at: Timestamp(record["at"].as_i64()?),
        work: optional(&record["work"], text)?,
        session: optional(&record["session"], |session| {
            Some(SessionKey { client: text(&session[0])?, key: text(&session[1])? })
        })?,
        run_days: days("run_days")?,
        page_days: days("page_days")?,
        spooled,
    })
}

fn event_as_json(event: &Event) -> Value {
    json!({
        "kind": event.kind.as_str(), "priority": event.priority.as_str(), "text": event.text, "data": event.data,
        "whole": event.whole,
    })
}

fn event_from_json(event: &Value) -> Option<Event> {
    Some(Event {
        kind: EventKind::parse(event["kind"].as_str()?)?,
        priority: Priority::parse(event["priority"].as_str()?)?,
        text: text(&event["text"])?,
        data: optional(&event["data"], text)?,
        // Records of earlier versions have none.
        whole: optional(&event["whole"], text)?,
    })
}

fn seen_from_json(seen: &Value) -> Option<HookRun> {
    Some(HookRun {
        client: text(&seen["client"])?,
        event: text(&seen["event"])?,
        at: Timestamp(seen["at"].as_i64()?),
        micros: seen["micros"].as_u64()?,
        // Records from before outputs were counted have none.
        output: optional(&seen["output"], |output| {
            Some(SeenOutput { outcome: Outcome::parse(output[0].as_str()?)?, bytes: output[1].as_u64()? })
        })?,
    })
}

fn output_as_json(output: &NewEntry) -> Value {
    json!({
        "kind": output.kind.as_str(),
        "origin": output.origin.as_str(),
        "level": output.level.as_str(),
        "title": output.title,
        "source": output.source,
        "run": output.run.as_ref().map(|run| json!({
            "exit_code": run.exit_code, "signal": run.signal, "millis": run.millis, "sandbox": run.sandbox,
            "ended": run.ended.as_str(),
        })),
    })
}

fn output_from_json(output: &Value, body: &[u8]) -> Option<NewEntry> {
    let run = optional(&output["run"], |run| {
        let number = |name: &str| optional(&run[name], |value| value.as_i64().and_then(|n| i32::try_from(n).ok()));
        Some(RunFacts {
            exit_code: number("exit_code")?,
            signal: number("signal")?,
            millis: run["millis"].as_u64()?,
            sandbox: text(&run["sandbox"])?,
            ended: Ended::parse(run["ended"].as_str()?)?,
        })
    })?;
    let kind = EntryKind::parse(output["kind"].as_str()?)?;
    let origin = Origin::parse(output["origin"].as_str()?)?;
    let level = Level::parse(output["level"].as_str()?)?;
    Some(NewEntry {
        source: optional(&output["source"], text)?,
        text: body.to_vec(),
        run,
        ..NewEntry::new(kind, origin, level, text(&output["title"])?)
    })
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Reads an optional value. Returns `None` if the value is present but cannot be read, and `Some(None)` if it is
/// absent.
#[expect(clippy::option_option, reason = "absent and unreadable are not the same")]
fn optional<T>(value: &Value, read: impl FnOnce(&Value) -> Option<T>) -> Option<Option<T>> {
    if value.is_null() { Some(None) } else { read(value).map(Some) }
}
