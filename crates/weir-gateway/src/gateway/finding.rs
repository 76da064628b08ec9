//! Finds tools for a model, among all servers of its client.

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde_json::{Map, Value};
use tokio::task::JoinSet;
use weir_context::Context;
use weir_host::error::CommandError;
use weir_host::mutex::lock;
use weir_host::random;

use super::Gateway;
use crate::find::find;
use crate::offer;

/// How many tools an answer describes.
const MAX_FOUND: usize = 5;
/// How long a search waits for servers whose tools are not known yet.
const FIND_TIMEOUT: Duration = Duration::from_secs(20);

impl Gateway {
    pub(super) async fn find(
        &self,
        context: &Context,
        arguments: &Map<String, Value>,
    ) -> Result<CallToolResult, CommandError> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let (query, wanted) = (text("query"), text("server"));
        if query.trim().is_empty() {
            return Err(CommandError::usage("the query is empty").hint("say what the tool should do"));
        }
        let names = self.names(context);
        let names: Vec<&str> = names.into_iter().filter(|name| wanted.is_empty() || *name == wanted).collect();
        if names.is_empty() {
            return Err(self.unknown_server(context, wanted));
        }
        let failed = self.learn_all(&names).await;
        let lists: Vec<_> = names.iter().filter_map(|name| Some((*name, self.stored(name)?))).collect();
        let tools: Vec<(&str, &Tool)> =
            lists.iter().flat_map(|(name, list)| list.tools.iter().map(|tool| (*name, tool))).collect();
        let tools: Vec<_> = tools.into_iter().filter(|(name, tool)| self.is_open(name, &tool.name)).collect();
        let cards: Vec<_> = tools.iter().map(|(name, tool)| offer::card(name, tool)).collect();
        let found: Vec<_> =
            find(&cards, query, MAX_FOUND).into_iter().filter_map(|at| tools.get(at).copied()).collect();
        let mut text = match found.is_empty() {
            true => format!("no tool fits among {}", tools.len()),
            false => offer::describe(&found, random::mark()?.as_str()),
        };
        for (name, why) in failed {
            text.push_str(&format!("\nnot searched: {name}: {why}"));
        }
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
    }

    /// Lists the tools of the servers whose tools are not known. Returns which could not be listed, and why.
    async fn learn_all(&self, names: &[&str]) -> Vec<(String, String)> {
        let (mut pending, mut starting) = (JoinSet::new(), Vec::new());
        let mut failed = Vec::new();
        for name in names.iter().filter(|name| self.stored(name).is_none()) {
            let (gateway, name) = (self.clone(), (*name).to_owned());
            let why = format!("it did not list its tools within {} s, and still starts", FIND_TIMEOUT.as_secs());
            failed.push((name.clone(), why));
            starting.push(pending.spawn(async move { (gateway.learn(&name).await, name) }));
        }
        let all = async {
            while let Some(Ok((learned, name))) = pending.join_next().await {
                match learned {
                    Ok(_) => failed.retain(|(other, _)| *other != name),
                    Err(error) => failed.iter_mut().filter(|(other, _)| *other == name).for_each(|(_, why)| {
                        *why = error.to_string();
                    }),
                }
            }
        };
        if tokio::time::timeout(FIND_TIMEOUT, all).await.is_err() {
            // The first start of a server may install it. It goes on, and a later search has its tools.
            pending.detach_all();
            lock(&self.0.starting).extend(starting);
        }
        failed
    }
}
