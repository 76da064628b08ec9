//! Sessions: the conversations of all clients, newest first, a page at a time.

use weir_context::LockedStores;
use weir_core::Timestamp;
use weir_host::error::CommandError;
use weir_pages::Text;
use weir_pages::sessions::{ClientCount, Sessions};
use weir_store::{SessionFilter, SessionPlace};

use super::known::ViewedProject;
use super::rows::ProjectSessions;
use super::view::{View, client_name};

const PAGE_SESSIONS: usize = 25;

pub(super) async fn page(view: &View<'_>) -> Result<String, CommandError> {
    let client = view.fields.get("client").map(str::to_owned);
    let before = view.fields.get("before").and_then(place_of);
    let filter =
        SessionFilter { client: client.clone(), before: before.clone(), limit: PAGE_SESSIONS + 1, active_since: None };
    let (mut lists, mut counts, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    for project in view.places() {
        let read = read(project, filter.clone()).await;
        let Some((list, of_clients)) = view.if_readable(project, read, &mut unread)? else { continue };
        lists.push(list);
        counts.extend(of_clients);
    }
    let facts = view.ui.transcripts.facts();
    let mut found: Vec<_> = lists.iter().flat_map(|list| list.sessions.iter().map(move |one| (list, one))).collect();
    found.sort_by(|(_, one), (_, other)| other.place.cmp(&one.place));
    let has_older = found.len() > PAGE_SESSIONS;
    found.truncate(PAGE_SESSIONS);
    let last = found.last().map(|(_, session)| place_text(&session.place));
    let clients = by_client(counts);
    let of_client = |wanted: &str| clients.iter().find(|client| client.key == Text::from(wanted));
    let total = match &client {
        Some(client) => of_client(client).map_or(Some(0), |client| client.sessions),
        None => clients.iter().map(|client| client.sessions).sum(),
    };
    let page = Sessions {
        rows: found.iter().map(|(list, session)| list.row(view, &facts, session)).collect(),
        total,
        is_newest: before.is_none(),
        older: last.filter(|_| has_older).map(Into::into),
        clients,
        client: client.map(Into::into),
        remarks: view.left_out().into_iter().chain(unread).map(Text::from).collect(),
    };
    Ok(page.render(&view.shell))
}

async fn read(
    project: &ViewedProject,
    filter: SessionFilter,
) -> Result<(ProjectSessions, Vec<(String, Option<u64>)>), CommandError> {
    let visit = project.visit().await;
    let link = project.link();
    visit
        .with_stores(move |open: &mut LockedStores<'_>| {
            let store = open.project()?;
            let sessions = store.sessions_page(&filter)?;
            let first = sessions.iter().map(|session| session.summary.from).min();
            let last = sessions.iter().map(|session| session.summary.to).max();
            let readings = match first.zip(last) {
                Some((first, last)) => store.metered_between(first, last)?,
                None => Vec::new(),
            };
            Ok((ProjectSessions { project: link, sessions, readings }, store.session_counts()?))
        })
        .await
}

/// Adds the numbers of all projects, the client with the most sessions first.
fn by_client(counts: Vec<(String, Option<u64>)>) -> Vec<ClientCount> {
    let mut clients: Vec<ClientCount> = Vec::new();
    for (client, sessions) in counts.into_iter().filter(|(_, sessions)| *sessions != Some(0)) {
        let key = Text::from(client.as_str());
        match clients.iter_mut().find(|known| known.key == key) {
            Some(known) => known.sessions = known.sessions.zip(sessions).map(|(known, more)| known + more),
            None => clients.push(ClientCount { key, name: client_name(&client).into(), sessions }),
        }
    }
    clients.sort_by_key(|client| std::cmp::Reverse(client.sessions.unwrap_or(u64::MAX)));
    clients
}

/// Returns a place of the list as an address has it.
fn place_text(place: &SessionPlace) -> String {
    format!("{}~{}~{}", place.started_at.0, place.client, place.key)
}

fn place_of(text: &str) -> Option<SessionPlace> {
    let (at, session) = text.split_once('~')?;
    let (client, key) = session.split_once('~')?;
    Some(SessionPlace { started_at: Timestamp(at.parse().ok()?), key: key.to_owned(), client: client.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_counted_is_not_added_up() {
        let counts = [("a", Some(2)), ("b", Some(3)), ("a", Some(4)), ("c", None), ("c", Some(1)), ("d", Some(0))];
        let clients = by_client(counts.map(|(client, sessions)| (client.to_owned(), sessions)).to_vec());
        let shown: Vec<_> = clients.iter().map(|client| (client.key == Text::from("c"), client.sessions)).collect();
        assert_eq!(shown, [(true, None), (false, Some(6)), (false, Some(3))]);
    }

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let place = SessionPlace { started_at: Timestamp(-5), key: "a~b/c".into(), client: "codex".into() };
        assert_eq!(place_of(&place_text(&place)), Some(place));
        for text in ["", "5", "5~a", "x~a~b"] {
            assert_eq!(place_of(text), None, "{text}");
        }
    }
}
