//! A new identity for this machine, after another one was found to have the same, or this one to have been put back to
//! an older state. Invariant: a record that the server has keeps its id; one that it does not have is sent once, under
//! the new identity.

use std::collections::HashMap;

use weir_host::error::CommandError;
use weir_records::{Body, HostId, Record, RecordId};
use weir_store::{TeamKind, TeamRecord, TeamState};

use super::exchange::Exchange;
use super::outbox::{UNSURE, broken};
use super::server::{Downloaded, Server};

impl Exchange<'_> {
    /// Draws a new identity, and gives new ids to the records that the server does not have.
    pub(super) fn rehost(&mut self, server: &dyn Server) -> Result<(), CommandError> {
        self.find_sent(server)?;
        let host = HostId::random().map_err(broken)?;
        let is_open = |row: &&TeamRecord| {
            row.is_own && matches!(row.state, TeamState::Waiting | TeamState::Tried | TeamState::Refused)
        };
        let open: Vec<TeamRecord> = self.ledger.records().iter().filter(is_open).cloned().collect();
        // What was forgotten and never arrived is not sent. A removal of something that may never have arrived could
        // remove what the other machine sent under this id.
        let (open, dropped): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|row| row.json.is_some() && !self.is_unsure(row));
        let mut ids = HashMap::new();
        for (index, row) in open.iter().enumerate() {
            let id = RecordId::parse(&row.id).map_err(broken)?;
            ids.insert(id, RecordId { host, index: index as u64 });
        }
        let mut renamed_rows = Vec::new();
        for row in &open {
            renamed_rows.extend(self.renamed(row, &ids)?);
        }
        let old: Vec<String> = open.iter().chain(&dropped).map(|row| row.id.clone()).collect();
        self.ledger.connection.host = host.to_string();
        self.ledger.connection.next_index = open.len() as u64;
        self.report.is_rehosted = true;
        self.ledger.replace(&old, renamed_rows)
    }

    fn is_unsure(&self, row: &TeamRecord) -> bool {
        let target = row.about.as_deref().filter(|_| row.kind == TeamKind::Removed);
        target.and_then(|id| self.ledger.get(id)).is_some_and(|target| target.problem.as_deref() == Some(UNSURE))
    }

    /// Reads the server's log, and marks the own records that it has.
    fn find_sent(&mut self, server: &dyn Server) -> Result<(), CommandError> {
        let mut after = 0;
        loop {
            let Downloaded::Page(page) = server.download(after)? else { return Ok(()) };
            for received in &page.records {
                let id = received.record.id.to_string();
                let Some(row) = self.ledger.get(&id).filter(|row| row.is_own) else { continue };
                if self.is_same(row, &received.record)? {
                    self.ledger.change(&id, |row| row.state = TeamState::Sent);
                }
            }
            if !page.more || page.next <= after {
                return Ok(());
            }
            after = page.next;
        }
    }

    /// Whether the row of an own record is that of a record with the same id. Once its entry was forgotten, only the
    /// reference of that says so.
    pub(super) fn is_same(&self, row: &TeamRecord, record: &Record) -> Result<bool, CommandError> {
        if let Some(json) = &row.json {
            return Ok(*json == record.to_json().map_err(broken)?);
        }
        let opened = self.vault.open(record);
        let kept = record.body.kept().or(opened.as_ref().map(|opened| &opened.entry));
        Ok(row.reference.is_some() && kept.map(|kept| kept.reference) == row.reference)
    }

    /// Returns a record under another id. What it says about other records follows those. What is sealed and cannot be
    /// sealed again is left out, and written again once there is a key.
    fn renamed(&self, row: &TeamRecord, ids: &HashMap<RecordId, RecordId>) -> Result<Option<TeamRecord>, CommandError> {
        let new = |id: RecordId| ids.get(&id).copied().unwrap_or(id);
        let written = row.json.as_deref().unwrap_or_default();
        let record = self.rewritten(Record::from_json(written).map_err(broken)?, |record| {
            record.id = new(record.id);
            match &mut record.body {
                Body::Kept(_) | Body::Granted(_) | Body::Sealed(_) => {}
                Body::Superseded { old, by } => (*old, *by) = (new(*old), new(*by)),
                Body::Confirmed { record, .. } | Body::Removed { record, .. } => *record = new(*record),
            }
        })?;
        record.map(|record| row_under(&record, row)).transpose()
    }
}

/// Returns the row of a record that has another id now.
fn row_under(record: &Record, row: &TeamRecord) -> Result<TeamRecord, CommandError> {
    let (about, successor) = match &record.body {
        Body::Superseded { by, .. } => (record.body.about(), Some(by.to_string())),
        Body::Granted(_) => (None, None),
        body => (body.about(), None),
    };
    Ok(TeamRecord {
        id: record.id.to_string(),
        state: TeamState::Waiting,
        about: about.map(|id| id.to_string()),
        successor,
        json: Some(record.to_json().map_err(broken)?),
        problem: None,
        ..row.clone()
    })
}
