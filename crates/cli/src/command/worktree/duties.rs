//! `placet duties`: who is accountable, responsible, consulted and informed; and what you are to be told.

use placet_domain::worktree::{Duties, Operation, Person};
use placet_wire::api::{DutyTable, NoticeList};

use super::{Site, project_of};
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

async fn show(desk: &Desk) -> Result<DutyTable, CliError> {
    let project = project_of(&desk.client).await?;
    Ok(desk.client.get(&format!("/api/v1/projects/{}/duties", project.id)).await?)
}

pub(crate) async fn apply(desk: &Desk, site: &Site) -> Result<DutyTable, CliError> {
    let project = project_of(&desk.client).await?;
    let given = DutyTable { duties: site.team.duties().clone() };
    Ok(desk.client.post(&format!("/api/v1/projects/{}/duties", project.id), &given).await?)
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

pub(crate) async fn notices(args: NoticeArgs, who: &Who, out: &Out) -> Result<(), CliError> {
    let desk = Desk::open(who).await?;
    let query = args.after.map_or_else(String::new, |after| format!("?after={after}"));
    let list = desk.client.get::<NoticeList>(&format!("/api/v1/notices{query}")).await;
    desk.close().await;
    out.answer(&list?, |list| {
        let row = |notice: &placet_wire::api::Notice| {
            let number = notice.seq.to_string();
            vec![number, notice.at.clone(), notice.event.clone(), notice.ticket.clone(), notice.agent.clone()]
        };
        table(&list.notices.iter().map(row).collect::<Vec<_>>())
    });
    Ok(())
}
