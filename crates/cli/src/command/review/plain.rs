//! `placet review --plain`: the queue and its cards as lines, and questions by line. For screen readers, and for terminals that move
//! nothing. The same cards, the same digests, the same decisions.

use std::collections::BTreeSet;

use placet_domain::approval::BadWidth;
use placet_domain::id::ProjectId;
use placet_domain::text::marked;
use placet_wire::Client;
use placet_wire::api::{OrderOffer, OrderRequest};

use super::attend::assignment;
use super::card::{self, Card, May, Typed};
use super::decision::{Attend, Decision, Verb};
use super::office;
use super::row::{Row, Subject, Unlisted, rows};
use crate::card::tier_word;
use crate::command::order::Terms;
use crate::command::until;
use crate::error::CliError;
use crate::out::{BOLD, Out, styled};
use crate::span::span;
use crate::terminal::asked;

/// More than anybody decides at one sitting; what is left is there at the next.
const MOST_PAGES: usize = 10;

/// One action or run; or one after the other, riskiest first, until the queue or the person is at its end.
pub(super) async fn sit(
    client: &Client,
    project: Option<ProjectId>,
    first: Option<Subject>,
    out: &Out,
) -> Result<(), CliError> {
    match first {
        Some(subject) => one(client, subject, out).await.map(drop),
        None => all(client, project, out).await,
    }
}

/// The list is read again at its end: of identical ones the next has a row then, and what came meanwhile is asked about too. What was left
/// for later is not asked about again.
async fn all(client: &Client, project: Option<ProjectId>, out: &Out) -> Result<(), CliError> {
    let mut asked = BTreeSet::new();
    loop {
        let (inbox, switch) = office::inbox(client, project, MOST_PAGES).await?;
        switch.iter().for_each(|switch| out.note(switch));
        let all = rows(&inbox);
        let unlisted = Unlisted::beside(&all, &inbox).told().join(", ");
        let rows: Vec<Row> = all.into_iter().filter(|row| !asked.contains(&row.subject)).collect();
        if rows.is_empty() {
            if asked.is_empty() {
                out.note("nothing waits for you; what needs a person appears here");
            }
            return Ok(());
        }
        rows.iter().for_each(|row| out.note(&line(row)));
        if !unlisted.is_empty() {
            out.note(&format!("and {unlisted}, not listed here: `placet queue` lists everything"));
        }
        for row in rows {
            asked.insert(row.subject);
            if let After::Leave = one(client, row.subject, out).await? {
                return Ok(());
            }
        }
    }
}

fn line(row: &Row) -> String {
    let kind = match (&row.tier, row.subject) {
        (Some(tier), _) => format!("{tier} ({})", tier_word(tier)),
        (None, Subject::Run(_, why)) => card::named(why).to_owned(),
        (None, Subject::Action(_)) => String::new(),
    };
    let age = span(jiff::Timestamp::now().as_millisecond() - row.since_ms);
    let twins = if row.identical == 0 { String::new() } else { format!(", {} identical", row.identical) };
    let [what, agent] = [&row.what, &row.agent].map(|text| marked(text));
    let mark = row.mark.as_ref().map(|mark| format!(", {}", marked(mark))).unwrap_or_default();
    let lost = if row.is_interrupted { ", interrupted" } else { "" };
    format!("{kind}: {what}, by {agent}, since {age}{lost}{twins}{mark}")
}

enum After {
    Next,
    Leave,
}

/// Shows it and asks, until it is decided or left. What changed meanwhile is not asked about again: what stands there now is.
async fn one(client: &Client, subject: Subject, out: &Out) -> Result<After, CliError> {
    let mut card = office::look(client, subject).await?;
    loop {
        match about(client, &card, out).await? {
            Said::Done => return Ok(After::Next),
            Said::Leave => return Ok(After::Leave),
            Said::Stale => {
                let now = office::look(client, subject).await?;
                if !now.differs_from(&card) {
                    return Ok(After::Next);
                }
                out.note("it changed since you were shown it; this stands there now:");
                card = now;
            }
        }
    }
}

/// What came of asking about one card.
enum Said {
    /// It was decided, cannot be, or is left for later.
    Done,
    Leave,
    /// Something else stands there now, and nothing was decided.
    Stale,
}

async fn about(client: &Client, card: &Card, out: &Out) -> Result<Said, CliError> {
    out.note(&format!("\n{}\n{}", styled(BOLD, &card.title), card.body));
    let typed = match &card.may {
        May::Decide { typed } => typed.as_ref(),
        May::Not(why) => {
            out.note(&format!("you cannot decide: {why}"));
            return Ok(Said::Done);
        }
        May::Settled(how) => {
            out.note(&format!("decided: {how}"));
            return Ok(Said::Done);
        }
    };
    loop {
        let (verb, words, order) = match wanted(client, card, typed, out).await? {
            Wanted::Decision(verb, words) => (verb, words, None),
            Wanted::Order(order) => (Verb::Approve, String::new(), Some(order)),
            Wanted::Asked(why) => {
                out.note(&why);
                continue;
            }
            Wanted::Next => return Ok(Said::Done),
            Wanted::Leave => return Ok(Said::Leave),
        };
        let (subject, seen, number) = (card.subject, card.seen.clone(), card.number);
        let decision = Decision { subject, number, verb, seen, words, twins: Vec::new(), order };
        match office::send(client, &decision).await {
            Ok(told) => {
                out.note(&told);
                return Ok(Said::Done);
            }
            Err(refused) => {
                out.note(&refused.why);
                if refused.is_stale {
                    return Ok(Said::Stale);
                }
            }
        }
    }
}

/// What somebody wants with the card they were shown.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Decision(Verb, String),
    /// Its like too.
    Order(OrderRequest),
    /// Nothing yet, and why.
    Asked(String),
    Next,
    Leave,
}

impl Wanted {
    fn asked(why: &str) -> Self {
        Self::Asked(why.to_owned())
    }
}

/// Sets it aside by line. What was said is told and the question asked again: nothing was decided.
async fn later(client: &Client, subject: Subject) -> Result<Wanted, CliError> {
    let question = "set aside until when (18:00, 90m; nothing brings it back)?";
    let Some(said) = asked::answer(question).await? else { return Ok(Wanted::Leave) };
    let lasts_ms = match said.as_str() {
        "" => None,
        typed => match until::lasts_ms(typed, &jiff::Zoned::now()) {
            Ok(lasts_ms) => Some(lasts_ms),
            Err(error) => return Ok(Wanted::Asked(error.message)),
        },
    };
    Ok(attended(office::attend(client, subject, &Attend::Defer { lasts_ms }).await))
}

async fn named(client: &Client, subject: Subject) -> Result<Wanted, CliError> {
    let question = "who should look at it (eve: what they should know; nothing: nobody)?";
    let Some(said) = asked::answer(question).await? else { return Ok(Wanted::Leave) };
    Ok(attended(office::attend(client, subject, &assignment(&said)).await))
}

fn attended(said: Result<String, CliError>) -> Wanted {
    Wanted::Asked(said.unwrap_or_else(|error| format!("not said: {}", error.message)))
}

/// What an order on it would be, as somebody chooses it by line. An empty line takes what stands in brackets.
async fn order(client: &Client, subject: Subject, out: &Out) -> Result<Wanted, CliError> {
    let offer = match office::offered(client, subject).await {
        Ok(offer) => offer,
        Err(error) => return Ok(Wanted::Asked(error.message)),
    };
    if let Some(why) = &offer.refused {
        return Ok(Wanted::Asked(format!("no order on this: {}", marked(why))));
    }
    let mut terms = Terms::default();
    out.note(&terms.told(&offer));
    let widths: Vec<&str> = offer.widths.iter().map(|view| view.width.as_str()).collect();
    for question in Term::ALL {
        let asks = match question {
            Term::Width if widths.len() < 2 => continue,
            Term::Width => format!("how wide ({}) [{}]?", widths.join(" or "), terms.width),
            Term::Until => format!("until when (18:00), or for how long (90m, 2h) [{}]?", terms.until),
            Term::Times => format!("for how many more at most [{}]?", terms.times),
        };
        let Some(said) = asked::answer(&asks).await? else { return Ok(Wanted::Leave) };
        match chosen(&terms, *question, &said, &widths).and_then(|terms| checked(terms, &offer)) {
            Ok(now) => terms = now,
            Err(why) => return Ok(Wanted::Asked(format!("nothing was decided: {why}"))),
        }
    }
    out.note(&terms.told(&offer));
    match asked::answer("approve this and its like? type yes:").await? {
        None => Ok(Wanted::Leave),
        Some(said) if said == "yes" => Ok(request(&terms, &offer).map_or_else(Wanted::Asked, Wanted::Order)),
        Some(_) => Ok(Wanted::asked("nothing was decided")),
    }
}

/// What of an order is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Term {
    Width,
    Until,
    Times,
}

impl Term {
    const ALL: &[Self] = &[Self::Width, Self::Until, Self::Times];
}

/// What an answer makes of what was chosen so far.
fn chosen(terms: &Terms, term: Term, said: &str, widths: &[&str]) -> Result<Terms, String> {
    if said.is_empty() {
        return Ok(terms.clone());
    }
    Ok(match term {
        Term::Width if !widths.contains(&said) => return Err(format!("it is {}", widths.join(" or "))),
        Term::Width => Terms { width: said.parse().map_err(|error: BadWidth| error.to_string())?, ..terms.clone() },
        Term::Until => Terms { until: said.to_owned(), ..terms.clone() },
        Term::Times => Terms { times: said.parse().unwrap_or_default(), ..terms.clone() },
    })
}

fn checked(terms: Terms, offer: &OrderOffer) -> Result<Terms, String> {
    request(&terms, offer).map(|_| terms)
}

fn request(terms: &Terms, offer: &OrderOffer) -> Result<OrderRequest, String> {
    terms.request(offer, &jiff::Zoned::now()).map_err(|error| error.message)
}

/// Asks what is to be done. What was typed before a question was there was not meant for it, and is let go of; the end of what is typed
/// is a wish to leave, whatever was asked.
async fn wanted(client: &Client, card: &Card, typed: Option<&Typed>, out: &Out) -> Result<Wanted, CliError> {
    if card.is_interrupted {
        return settled(typed).await;
    }
    let (similar, attend) = match (card.subject, typed) {
        (Subject::Action(_), None) => (", its like too (s)", ", later (l), who (w)"),
        (Subject::Action(_), Some(_)) => ("", ", later (l), who (w)"),
        (Subject::Run(..), _) => ("", ""),
    };
    let question = format!("approve (a){similar}, reject (r){attend}, next (n) or quit (q)?");
    let Some(choice) = asked::answer(&question).await? else { return Ok(Wanted::Leave) };
    match choice.as_str() {
        "s" | "similar" if !similar.is_empty() => return order(client, card.subject, out).await,
        "l" | "later" if !attend.is_empty() => return later(client, card.subject).await,
        "w" | "who" if !attend.is_empty() => return named(client, card.subject).await,
        _ => {}
    }
    let (verb, question) = match (choice.as_str(), typed) {
        ("a" | "approve", Some(Typed { word, why, .. })) => {
            (Verb::Approve, format!("{why}; type `{word}` to approve:"))
        }
        ("a" | "approve", None) => (Verb::Approve, "approve exactly this? type yes:".to_owned()),
        ("r" | "reject", _) => (Verb::Reject, "why? the agent reads it:".to_owned()),
        ("n" | "next", _) => return Ok(Wanted::Next),
        ("q" | "quit", _) => return Ok(Wanted::Leave),
        _ => return Ok(Wanted::asked("type one of these letters, and enter")),
    };
    Ok(meant(verb, word_of(typed), asked::answer(&question).await?))
}

/// The same of what was interrupted: it is run again or given up, each with a reason.
async fn settled(typed: Option<&Typed>) -> Result<Wanted, CliError> {
    let question = "run it again (a), give it up (r), next (n) or quit (q)?";
    let Some(choice) = asked::answer(question).await? else { return Ok(Wanted::Leave) };
    let verb = match choice.as_str() {
        "a" | "again" => Verb::Retry,
        "r" | "give up" => Verb::GiveUp,
        "n" | "next" => return Ok(Wanted::Next),
        "q" | "quit" => return Ok(Wanted::Leave),
        _ => return Ok(Wanted::asked("type one of these letters, and enter")),
    };
    if let (Verb::Retry, Some(Typed { word: tool, why, .. })) = (verb, typed) {
        let question = format!("{why}; type `{tool}` to run it again:");
        match asked::answer(&question).await? {
            None => return Ok(Wanted::Leave),
            Some(said) if said != *tool => return Ok(Wanted::asked("nothing was decided")),
            Some(_) => {}
        }
    }
    Ok(meant(verb, word_of(typed), asked::answer("why? it is recorded, and the agent reads it:").await?))
}

fn word_of(typed: Option<&Typed>) -> Option<&str> {
    typed.map(|typed| typed.word.as_str())
}

/// What the second answer makes of the first: an approval is confirmed, with the tool's name where that is asked for; a rejection
/// has a reason.
fn meant(verb: Verb, typed: Option<&str>, said: Option<String>) -> Wanted {
    match (verb, said) {
        (_, None) => Wanted::Leave,
        (Verb::Approve, Some(said)) if said == typed.unwrap_or("yes") => Wanted::Decision(Verb::Approve, String::new()),
        (Verb::Approve, Some(_)) => Wanted::asked("nothing was decided"),
        (_, Some(why)) if why.is_empty() => Wanted::asked("nothing was decided: say why, the agent reads it"),
        (verb, Some(why)) => Wanted::Decision(verb, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_an_order_is_chosen_by_line_and_only_among_what_is_offered() {
        let (terms, widths) = (Terms::default(), ["exact"]);
        assert_eq!(chosen(&terms, Term::Until, "", &widths), Ok(terms.clone()), "an empty line changes nothing");
        assert!(chosen(&terms, Term::Width, "contents", &widths).is_err(), "that one is not offered");
        assert_eq!(chosen(&terms, Term::Times, "3", &widths).unwrap().times, 3);
        assert_eq!(chosen(&terms, Term::Times, "many", &widths).unwrap().times, 0, "which is out of bounds");
        assert_eq!(chosen(&terms, Term::Until, "18:00", &widths).unwrap().until, "18:00");
    }

    #[test]
    fn b4_only_a_whole_answer_decides_and_the_end_of_what_is_typed_leaves() {
        let said = |text: &str| Some(text.to_owned());
        let approved = Wanted::Decision(Verb::Approve, String::new());
        assert_eq!(meant(Verb::Approve, None, said("yes")), approved);
        assert_eq!(meant(Verb::Approve, Some("rm"), said("rm")), approved);
        assert_eq!(meant(Verb::Approve, Some("rm"), said("yes")), Wanted::asked("nothing was decided"));
        assert_eq!(meant(Verb::Approve, None, said("")), Wanted::asked("nothing was decided"));
        assert_eq!(meant(Verb::Reject, None, said("too wide")), Wanted::Decision(Verb::Reject, "too wide".to_owned()));
        assert!(matches!(meant(Verb::Reject, None, said("")), Wanted::Asked(_)));
        for verb in [Verb::Retry, Verb::GiveUp] {
            let (said, silent) = (meant(verb, None, said("it only reads")), meant(verb, Some("rm"), said("")));
            assert_eq!(said, Wanted::Decision(verb, "it only reads".to_owned()));
            assert!(matches!(silent, Wanted::Asked(_)), "each has a reason");
        }
        for (verb, typed) in [(Verb::Approve, None), (Verb::Approve, Some("q")), (Verb::Reject, None)] {
            assert_eq!(meant(verb, typed, None), Wanted::Leave);
        }
    }
}
