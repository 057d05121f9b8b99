//! `placet review --plain`: the queue and its cards as lines, and questions by line. For screen readers, and for terminals that move
//! nothing. The same cards, the same digests, the same decisions.

use std::io::{BufRead as _, Write as _};

use placet_domain::id::ProjectId;
use placet_wire::Client;

use super::card::{May, named};
use super::draw::{span, tier_word};
use super::office;
use super::row::{Row, Subject, rows};
use super::sitting::{Decision, Verb};
use crate::error::CliError;
use crate::out::{BOLD, Out, styled};

/// One after the other, riskiest first, until the queue or the person is at its end.
pub(super) async fn sit(
    client: &Client,
    project: Option<ProjectId>,
    first: Option<Subject>,
    out: &Out,
) -> Result<(), CliError> {
    let (inbox, switch) = office::inbox(client, project).await?;
    switch.iter().for_each(|switch| out.note(switch));
    let rows = rows(&inbox);
    let subjects = match first {
        Some(first) => vec![first],
        None => rows.iter().map(|row| row.subject).collect(),
    };
    if subjects.is_empty() {
        out.note("nothing waits for you; what needs a person appears here");
    }
    if first.is_none() {
        rows.iter().for_each(|row| out.note(&line(row)));
    }
    for subject in subjects {
        if let After::Leave = one(client, subject, out).await? {
            break;
        }
    }
    Ok(())
}

fn line(row: &Row) -> String {
    let kind = match (&row.tier, row.subject) {
        (Some(tier), _) => format!("{tier} ({})", tier_word(tier)),
        (None, Subject::Run(_, why)) => named(why).to_owned(),
        (None, Subject::Action(_)) => String::new(),
    };
    let age = span(jiff::Timestamp::now().as_millisecond() - row.since_ms);
    let twins = if row.twins.is_empty() { String::new() } else { format!(", {} identical", row.twins.len()) };
    let [what, agent] = [&row.what, &row.agent].map(|text| placet_domain::text::marked(text));
    format!("{kind}: {what}, by {agent}, since {age}{twins}")
}

enum After {
    Next,
    Leave,
}

async fn one(client: &Client, subject: Subject, out: &Out) -> Result<After, CliError> {
    let card = office::look(client, subject).await?;
    out.note(&format!("\n{}\n{}", styled(BOLD, &card.title), card.body));
    let typed = match &card.may {
        May::Decide { typed } => typed.clone(),
        May::Not(why) => {
            out.note(&format!("you cannot decide: {why}"));
            return Ok(After::Next);
        }
        May::Settled(how) => {
            out.note(&format!("decided: {how}"));
            return Ok(After::Next);
        }
    };
    loop {
        let (verb, words) = match asked("approve (a), reject (r), next (n) or quit (q)?").await?.as_str() {
            "a" | "approve" => match confirmed(typed.as_deref()).await? {
                true => (Verb::Approve, String::new()),
                false => continue,
            },
            "r" | "reject" => (Verb::Reject, asked("why? the agent reads it:").await?),
            "n" | "next" => return Ok(After::Next),
            "q" | "quit" => return Ok(After::Leave),
            _ => continue,
        };
        let (seen, number) = (card.seen.clone(), card.number);
        let decision = Decision { subject, number, verb, seen, words, twins: Vec::new() };
        match office::send(client, &decision).await {
            Ok(told) => {
                out.note(&told);
                return Ok(After::Next);
            }
            Err(refused) => out.note(&refused.why),
        }
    }
}

/// Where two people are asked, each types what it is.
async fn confirmed(typed: Option<&str>) -> Result<bool, CliError> {
    Ok(match typed {
        Some(tool) => asked(&format!("two people are asked; type `{tool}` to approve:")).await? == tool,
        None => asked("approve exactly this? type yes:").await? == "yes",
    })
}

/// A line that somebody types; the end of what is typed is a wish to leave.
async fn asked(question: &str) -> Result<String, CliError> {
    let _ = write!(anstream::stderr(), "{question} ");
    let read = tokio::task::spawn_blocking(|| std::io::stdin().lock().lines().next());
    let said = read.await.ok().flatten().transpose()?;
    Ok(said.map_or_else(|| "q".to_owned(), |said| said.trim().to_owned()))
}
