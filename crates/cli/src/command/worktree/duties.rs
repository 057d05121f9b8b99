//! `placet duties`: who is accountable, responsible, consulted and informed; and what you are to be told.

use placet_domain::text::spelled_out;
use placet_domain::worktree::{Duties, Operation, Person, Work};
use placet_wire::api::{DutyTable, Notice, NoticeQuery, WorkReport, WorktreeView};
use placet_wire::endpoint::{AssignDuties, ListNotices, RecordWork, ShowDuties};
use placet_worktree::redact::redacted;

use super::{Pair, Site, project_of, recorded};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::CliError;
use crate::out::{DIM, Out, styled, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// The table that counts
    Show,
    /// Make what `agents/raci.json` says the table that counts
    Apply,
    /// Give advice on an operation that you are consulted on
    #[command(
        after_help = "Example:\n  placet --as ada duties advise --agent backend --ticket PAY-123 --on merge --say 'wait for PAY-122'"
    )]
    Advise {
        #[command(flatten)]
        pair: Pair,
        /// start, execute, scope_check, close or merge
        #[arg(long, value_name = "OPERATION", value_parser = operation)]
        on: Operation,
        #[arg(long = "say", value_name = "TEXT")]
        said: String,
    },
}

fn operation(text: &str) -> Result<Operation, String> {
    let found = Operation::ALL.iter().copied().find(|operation| operation.as_str() == text);
    found.ok_or_else(|| "write start, execute, scope_check, close or merge".to_owned())
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet notices\n  placet --as ada notices --after 120")]
pub(crate) struct NoticeArgs {
    /// Only what happened after the entry of this number
    #[arg(long, value_name = "ENTRY")]
    after: Option<u64>,
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let desk = Desk::open(who).await?;
    let answered = match command {
        Command::Show => show(&desk).await,
        Command::Apply => apply(&desk, &site).await,
        Command::Advise { pair, on, said } => {
            let advised = advise(&desk, &pair, on, &said).await;
            desk.close().await;
            out.answer(&advised?, |view| format!("recorded for whoever decides `{}`", told(view, on)));
            return Ok(());
        }
    };
    desk.close().await;
    let table = answered?;
    let written = site.team.duties();
    out.answer(&table, |given| shown(&given.duties));
    if table.duties != *written {
        out.note("`agents/raci.json` says something else; `placet duties apply` makes it count");
    }
    Ok(())
}

/// Formats the operation with its agent and ticket for messages.
fn told(view: &WorktreeView, on: Operation) -> String {
    format!("{} of {} at {}", on.as_str(), view.opening.agent, view.opening.ticket)
}

async fn advise(desk: &Desk, pair: &Pair, on: Operation, said: &str) -> Result<WorktreeView, CliError> {
    let view = recorded(&desk.client, pair).await?;
    let work = Work::Advised { on, said: redacted(said) };
    Ok(desk.client.post(RecordWork { worktree: view.id }, &WorkReport { work }).await?)
}

/// Shows the person who decides an operation the answers of the people consulted on it, and who has not answered.
pub(super) async fn show_advice(desk: &Desk, view: &WorktreeView, on: Operation, out: &Out) -> Result<(), CliError> {
    let table = show(desk).await?;
    for person in &table.duties.of(on).consulted {
        let said = view.advice.iter().rev().find(|advice| advice.on == on && advice.consulted_as.contains(person));
        out.note(&match said {
            Some(advice) => format!("consulted {person}: {} says: {}", advice.name, spelled_out(&advice.said)),
            None => format!("consulted {person}: has not answered; `{}` does not wait for it", on.as_str()),
        });
    }
    Ok(())
}

async fn show(desk: &Desk) -> Result<DutyTable, CliError> {
    let project = project_of(&desk.client).await?;
    Ok(desk.client.get(ShowDuties { project: project.id }).await?)
}

pub(crate) async fn apply(desk: &Desk, site: &Site) -> Result<DutyTable, CliError> {
    let project = project_of(&desk.client).await?;
    let given = DutyTable { duties: site.team.duties().clone() };
    Ok(desk.client.post(AssignDuties { project: project.id }, &given).await?)
}

fn shown(duties: &Duties) -> String {
    let people = |people: &std::collections::BTreeSet<Person>| {
        people.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let head = ["", "ACCOUNTABLE", "RESPONSIBLE", "CONSULTED", "INFORMED"].map(|cell| styled(DIM, cell)).to_vec();
    let rows = Operation::ALL.iter().map(|operation| {
        let duty = duties.of(*operation);
        let lists = [&duty.accountable, &duty.responsible, &duty.consulted, &duty.informed];
        std::iter::once(operation.as_str().to_owned()).chain(lists.map(people)).collect()
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

/// Names the operations that a notice asks a consulted person about.
fn asked(notice: &Notice) -> String {
    if notice.consulted_on.is_empty() {
        return String::new();
    }
    format!("consulted on {}: answer with `placet duties advise`", notice.consulted_on.join(", "))
}

pub(crate) async fn notices(args: NoticeArgs, who: &Who, out: &Out) -> Result<(), CliError> {
    let desk = Desk::open(who).await?;
    let list = desk.client.get(ListNotices { query: NoticeQuery { after: args.after } }).await;
    desk.close().await;
    out.answer(&list?, |list| {
        let row = |notice: &Notice| {
            let number = notice.seq.to_string();
            let (event, ticket, agent) = (notice.event.clone(), notice.ticket.clone(), notice.agent.clone());
            vec![number, notice.at.clone(), event, ticket, agent, asked(notice)]
        };
        table(&list.notices.iter().map(row).collect::<Vec<_>>())
    });
    Ok(())
}
