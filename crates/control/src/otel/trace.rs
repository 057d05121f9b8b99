//! Spans from the entries of one run: pure, and the same whenever they are made, so that whoever gets a span twice knows it.
//!
//! A span is there once it has ended, and names the entry that ended it.

use std::collections::BTreeMap;

use placet_domain::command::About;
use placet_domain::digest::Digest;
use placet_domain::event_meta::{Phase, SpanMeta};
use placet_domain::headline::headline;
use placet_domain::record::Record;
use placet_domain::time::Timestamp;
use placet_store::StoredEntry;
use serde_json::Value;

/// An entry of a run, as far as spans are made of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) kind: String,
    pub(crate) run: String,
    pub(crate) action: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) body: Value,
    /// What the entry means for the trace.
    pub(crate) spans: SpanMeta,
}

impl Told {
    /// Nothing, where the entry is about no run.
    pub(crate) fn of(entry: &StoredEntry) -> Option<Self> {
        let mut whole: Value = serde_json::from_slice(&entry.bytes).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (run, action, project) = (text(&whole["run"])?, text(&whole["action"]), text(&whole["project"]));
        let body = whole["body"].take();
        let (seq, at, kind, spans) = (entry.seq, entry.at, entry.kind.clone(), SpanMeta::default());
        Some(Self { seq, at, kind, run, action, project, body, spans }.with_spans())
    }

    /// Adds what the event declares. An entry of another version moves no span.
    pub(super) fn with_spans(mut self) -> Self {
        let action = self.action.as_deref().and_then(|id| id.parse().ok());
        let about = About { run: self.run.parse().ok(), action, ..About::default() };
        if let Ok(record) = Record::read(about, &self.kind, self.body.clone()) {
            self.spans = record.event.meta().spans;
        }
        self
    }
}

/// What is said of a span.
pub(crate) type Attributes = Vec<(&'static str, Fact)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fact {
    Text(String),
    Count(u64),
}

impl From<&str> for Fact {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Something that took time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// The run, as 32 hex digits.
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) name: String,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) attributes: Attributes,
    pub(crate) failed: bool,
    /// The entry with which it was over.
    pub(crate) ended_by: u64,
}

/// Every span that is over, in the order in which they ended. The entries are those of one run, oldest first.
pub(crate) fn spans(entries: &[Told]) -> Vec<Span> {
    let mut book = Book::default();
    for entry in entries {
        book.read(entry);
    }
    book.done
}

/// What began and has not ended yet, and what has.
#[derive(Default)]
struct Book<'e> {
    run: Option<&'e Told>,
    agent: Option<&'e str>,
    open: BTreeMap<(Phase, Option<&'e str>), &'e Told>,
    actions: BTreeMap<&'e str, Act<'e>>,
    done: Vec<Span>,
}

/// An action that is under way.
struct Act<'e> {
    proposed: &'e Told,
    tier: String,
}

impl<'e> Book<'e> {
    fn read(&mut self, entry: &'e Told) {
        match (entry.kind.as_str(), &entry.action) {
            ("run.created", _) => self.run = Some(entry),
            ("run.agent_selected", _) => self.agent = entry.body["product"]["selection"]["chosen"].as_str(),
            ("action.proposed", Some(action)) => {
                self.actions.insert(action, Act { proposed: entry, tier: String::new() });
            }
            _ => {}
        }
        match &entry.action {
            Some(action) if !entry.kind.starts_with("run.") => self.read_of_action(entry, action),
            _ => self.read_of_run(entry),
        }
    }

    fn read_of_run(&mut self, entry: &'e Told) {
        self.follow(None, entry);
        if let Some(name) = entry.spans.moment {
            let span = self.span(name, None, entry, entry);
            self.done.push(span);
        }
        if entry.kind == "run.model_called" {
            let span = self.model_call(entry);
            self.done.push(span);
        }
        if entry.spans.ends {
            self.end_run(entry);
        }
    }

    /// It is recorded when it is over, with how long it took.
    fn model_call(&self, entry: &Told) -> Span {
        let call = &entry.body["call"];
        let took_ms = call["latency_ms"].as_i64().unwrap_or(0);
        let mut span = self.span("chat", None, entry, entry);
        span.name = format!("chat {}", call["model_asked"].as_str().unwrap_or_default());
        span.from = Timestamp::from_unix_ms(entry.at.unix_ms().saturating_sub(took_ms));
        // Some upstreams fail in the middle of an answer that began well.
        span.failed = call["status"].as_u64().is_some_and(|status| status >= 400) || call["failed"] == true;
        span.attributes.extend(of_model(call));
        span
    }

    fn read_of_action(&mut self, entry: &'e Told, action: &'e str) {
        if let ("action.judged", Some(act)) = (entry.kind.as_str(), self.actions.get_mut(action)) {
            act.tier = entry.body["verdict"]["tier"].as_str().unwrap_or_default().to_owned();
        }
        self.follow(Some(action), entry);
        if entry.spans.ends {
            self.end_action(entry, action);
        }
    }

    /// Closes phases before it opens others: one entry may do both.
    fn follow(&mut self, action: Option<&'e str>, entry: &'e Told) {
        for phase in entry.spans.closes {
            let Some(from) = self.open.remove(&(*phase, action)) else { continue };
            let mut span = self.span(phase.as_str(), action, from, entry);
            let about = if phase.waits() && !is_by_order(entry) { "person" } else { "placet" };
            span.attributes.push(("placet.waits_for", about.into()));
            self.done.push(span);
        }
        for phase in entry.spans.opens {
            self.open.entry((*phase, action)).or_insert(entry);
        }
    }

    fn end_run(&mut self, entry: &'e Told) {
        let Some(created) = self.run.take() else { return };
        let agent_id = created.body["agent"].as_str().unwrap_or_default();
        let agent = self.agent.unwrap_or(agent_id);
        let mut attributes = vec![
            ("gen_ai.operation.name", "invoke_agent".into()),
            ("gen_ai.agent.name", agent.into()),
            ("gen_ai.agent.id", agent_id.into()),
        ];
        attributes.extend(places(created, entry));
        self.done.push(Span {
            trace: trace_of(&created.run),
            id: span_id(&created.run, "run", 0),
            parent: None,
            name: format!("invoke_agent {agent}"),
            from: created.at,
            to: entry.at,
            attributes,
            failed: entry.kind == "run.failed",
            ended_by: entry.seq,
        });
    }

    fn end_action(&mut self, entry: &'e Told, action: &'e str) {
        let Some(Act { proposed, tier }) = self.actions.remove(action) else { return };
        let tool = proposed.body["tool"].as_str().unwrap_or_default();
        let mut attributes = vec![
            ("gen_ai.operation.name", "execute_tool".into()),
            ("gen_ai.tool.name", tool.into()),
            ("gen_ai.tool.call.id", action.into()),
            ("placet.action.kind", proposed.body["kind"].as_str().unwrap_or_default().into()),
            ("placet.action.tier", Fact::Text(tier)),
        ];
        attributes.extend(places(proposed, entry));
        self.done.push(Span {
            trace: trace_of(&proposed.run),
            id: span_id(&proposed.run, action, 0),
            parent: Some(span_id(&proposed.run, "run", 0)),
            name: format!("execute_tool {tool}"),
            from: proposed.at,
            to: entry.at,
            attributes,
            failed: entry.kind == "job.completed" && entry.body["exit"]["code"] != 0,
            ended_by: entry.seq,
        });
    }

    fn span(&self, name: &str, action: Option<&str>, from: &Told, to: &Told) -> Span {
        let parent = span_id(&from.run, action.unwrap_or("run"), 0);
        let mut attributes = places(from, to);
        let particulars = [("placet.checkpoint.kind", &from.body["kind"]), ("placet.worker.id", &from.body["worker"])];
        let told = particulars.iter().filter(|_| matches!(name, "checkpoint" | "job"));
        attributes.extend(told.filter_map(|(key, value)| Some((*key, value.as_str()?.into()))));
        Span {
            trace: trace_of(&from.run),
            id: span_id(&from.run, &format!("{name}/{}", action.unwrap_or_default()), from.seq),
            parent: Some(parent),
            name: name.to_owned(),
            from: from.at,
            to: to.at,
            attributes,
            failed: matches!(to.kind.as_str(), "run.failed" | "job.lease_lapsed"),
            ended_by: to.seq,
        }
    }
}

/// Somebody said yes beforehand: nobody was waited for.
fn is_by_order(entry: &Told) -> bool {
    entry.kind == "action.approved" && entry.body["approval"]["order"].is_u64()
}

/// Where it happened, and how it ended.
fn places(from: &Told, to: &Told) -> Attributes {
    let mut places = vec![("placet.run.id", from.run.as_str().into())];
    places.extend(from.project.as_deref().map(|project| ("placet.project.id", project.into())));
    places.extend(from.action.as_deref().map(|action| ("placet.action.id", action.into())));
    places.push(("placet.outcome", Fact::Text(headline(&to.kind).into_owned())));
    places
}

/// What a language model was asked for: names and counts, never the question or the answer.
fn of_model(call: &Value) -> Attributes {
    let texts = [
        ("gen_ai.provider.name", &call["upstream"]),
        ("gen_ai.request.model", &call["model_asked"]),
        ("gen_ai.response.model", &call["model_answered"]),
    ];
    let counts = [
        ("gen_ai.usage.input_tokens", &call["tokens"]["input"]),
        ("gen_ai.usage.output_tokens", &call["tokens"]["output"]),
        ("placet.cost.usd_micros", &call["usd_micros"]),
        ("http.response.status_code", &call["status"]),
    ];
    let texts = texts.into_iter().filter_map(|(key, value)| Some((key, value.as_str()?.into())));
    let counts = counts.into_iter().filter_map(|(key, value)| Some((key, Fact::Count(value.as_u64()?))));
    std::iter::once(("gen_ai.operation.name", "chat".into())).chain(texts).chain(counts).collect()
}

/// A run has an id of 16 bytes, which is what a trace needs.
fn trace_of(run: &str) -> String {
    run.rsplit('_').next().unwrap_or_default().to_owned()
}

/// Eight bytes that depend on what the span is about and on nothing else.
fn span_id(run: &str, what: &str, seq: u64) -> String {
    let digest = Digest::of(format!("placet/span/v1\n{run}\n{what}\n{seq}").as_bytes()).to_string();
    digest.rsplit(':').next().unwrap_or_default().chars().take(16).collect()
}
