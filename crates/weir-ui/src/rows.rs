//! A session as a row of a list, with what the meter and its transcript say.

use weir_core::Timestamp;
use weir_pages::ProjectLink;
use weir_pages::sessions::SessionRow;
use weir_store::{ListedSession, MeterRow};

use super::account::{account, dollars, of_session};
use super::transcripts::{Conversation, Facts};
use super::view::{View, client_name, session_text, title_of};

/// The beginning and the end of time.
pub(super) const ALWAYS: (Timestamp, Timestamp) = (Timestamp(i64::MIN), Timestamp(i64::MAX));

/// Sessions of one project, with the readings of their days.
pub(super) struct ProjectSessions {
    pub(super) project: ProjectLink,
    pub(super) sessions: Vec<ListedSession>,
    pub(super) readings: Vec<MeterRow>,
}

impl ProjectSessions {
    pub(super) fn row(&self, view: &View<'_>, facts: &Facts, listed: &ListedSession) -> SessionRow {
        let summary = &listed.summary;
        let account = account(of_session(&self.readings, &summary.key), facts);
        let own = facts.of(&summary.key);
        let is_idle = account.held_outputs == 0 && account.net_tokens < 0;
        SessionRow {
            key: session_text(&summary.key),
            title: title_of(summary),
            project_key: self.project.key.clone(),
            project: self.project.name.clone(),
            branch: summary.work.as_deref().map(Into::into),
            client: client_name(&summary.key.client).into(),
            started: view.moment(summary.from),
            requests: own.map(|own| own.requests.len() as u64),
            window_now: own.and_then(Conversation::window_now),
            spent: facts.spent(&summary.key, ALWAYS.0, ALWAYS.1).map(dollars),
            net_tokens: Some(account.net_tokens),
            net: account.net,
            remark: is_idle.then(|| "nothing was large enough to hold back".into()),
        }
    }
}
