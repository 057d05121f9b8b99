//! One line for each event of a stream, for `placet watch` and `placet run watch`.

use std::collections::BTreeMap;

use placet_domain::text::marked;
use placet_wire::endpoint::ShowAction;
use placet_wire::{Client, StreamEvent};
use serde_json::Value;

use crate::card;
use crate::context::short;

/// Titles of actions in memory. Beyond this all are dropped and asked for again.
const MAX_CACHED_TITLES: usize = 1_000;

/// Fields of a ledger entry that a line shows, with tricky characters spelled out.
pub(crate) struct EventEntry {
    seq: u64,
    at: String,
    event: String,
    run: Option<String>,
    pub(crate) action: Option<String>,
    tool: String,
}

impl EventEntry {
    pub(crate) fn parse(event: &StreamEvent) -> Self {
        let entry: Value = serde_json::from_str(&event.data).unwrap_or_default();
        let text = |value: &Value| value.as_str().map(marked);
        Self {
            seq: event.seq,
            at: text(&entry["at"]).unwrap_or_default(),
            event: marked(&event.event),
            run: text(&entry["run"]),
            action: text(&entry["action"]),
            tool: text(&entry["body"]["tool"]).unwrap_or_default(),
        }
    }

    /// Formats number, time, event, run, action, and the action's title (its tool if there is no title).
    pub(crate) fn line(&self, title: Option<&str>) -> String {
        let Self { seq, at, event, run, action, tool } = self;
        let [run, action] = [run, action].map(|id| id.as_ref().map(short).unwrap_or_default());
        format!("{seq:>6}  {at}  {event:<24} {run} {action} {}", title.unwrap_or(tool)).trim_end().to_owned()
    }
}

/// Titles of actions by id. Ledger entries hold digests and no contents, so each title is fetched once; `None` if it could not be.
#[derive(Default)]
pub(crate) struct TitleCache(BTreeMap<String, Option<String>>);

impl TitleCache {
    pub(crate) async fn find(&mut self, client: &Client, action: Option<&str>) -> Option<&str> {
        let action = action?;
        if self.0.len() >= MAX_CACHED_TITLES {
            self.0.clear();
        }
        if !self.0.contains_key(action) {
            let title = Self::fetch(client, action).await;
            self.0.insert(action.to_owned(), title);
        }
        self.0.get(action)?.as_deref()
    }

    async fn fetch(client: &Client, action: &str) -> Option<String> {
        let detail = client.get(ShowAction { action: action.parse().ok()? }).await.ok()?;
        Some(card::title(&detail.action))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn c16_event_line_shows_the_title_or_the_tool_harmless() {
        let (run, action) = (format!("run_{:032x}", 1), format!("act_{:032x}", 2));
        let data =
            json!({ "at": "2026-01-31T09:30:00.000Z", "run": run, "action": action, "body": { "tool": "sh\u{202e}" } });
        let event = StreamEvent { seq: 7, event: "action_proposed".to_owned(), data: data.to_string() };
        let entry = EventEntry::parse(&event);
        let head = "     7  2026-01-31T09:30:00.000Z  action_proposed          …00000001 …00000002 ";
        assert_eq!(entry.line(Some("nmap -sV")), format!("{head}nmap -sV"));
        assert_eq!(entry.line(None), format!("{head}sh⟦U+202E⟧"));
    }
}
