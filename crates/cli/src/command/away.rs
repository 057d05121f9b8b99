//! `placet away`: somebody else is told what you would be told, for a while. They decide by their own rights. Without a word more it tells
//! who is away now.

use jiff::Timestamp;
use placet_wire::Client;
use placet_wire::api::{AbsenceList, AbsenceView, AwayRequest, Decision, IdentityView};
use placet_wire::endpoint::{EndAbsence, ListAbsences, ShowCaller, StartAbsence};

use super::identity;
use crate::context::Who;
use crate::error::CliError;
use crate::out::{Out, table};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet --as ada away\n  placet --as ada away --to bob --days 7\n  placet --as ada away --to bob --until 2026-08-15T08:00:00Z\n  placet --as ada away --back"
)]
pub(crate) struct Args {
    /// Who stands in, by name or id; nobody and no --back: tells who is away now
    #[arg(long, value_name = "NAME", conflicts_with = "back")]
    to: Option<String>,
    /// Until when (RFC 3339), within 90 days
    #[arg(long, value_name = "TIME", conflicts_with = "back", requires = "to")]
    until: Option<Timestamp>,
    /// For so many days from now, instead of --until
    #[arg(long, value_name = "DAYS", conflicts_with_all = ["back", "until"], requires = "to", value_parser = clap::value_parser!(u8).range(1..=90))]
    days: Option<u8>,
    /// You are here again
    #[arg(long)]
    back: bool,
    /// Who is away, by name or id, as an administrator (default: yourself)
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    if args.to.is_none() && !args.back {
        return list(&client, args.who.as_deref(), out).await;
    }
    let id = match &args.who {
        Some(named) => identity::find(&client, named).await?,
        None => client.get(ShowCaller {}).await?.id,
    };
    let Some(to) = args.to.clone() else {
        let view: IdentityView = client.post(EndAbsence { identity: id }, &Decision::default()).await?;
        out.answer(&serde_json::json!(view), |_| format!("{} is back and is told again", view.name));
        return Ok(());
    };
    let request = AwayRequest { to, until: until(&args)?.to_string() };
    let view: IdentityView = client.post(StartAbsence { identity: id }, &request).await?;
    out.answer(&serde_json::json!(view), |_| {
        let until = view.away.as_ref().map_or("", |away| away.until.as_str());
        format!("{} is away until {until}; {} is told instead, and decides by their own rights", view.name, request.to)
    });
    Ok(())
}

/// Who is away now; with a name, whether that person is.
async fn list(client: &Client, named: Option<&str>, out: &Out) -> Result<(), CliError> {
    let mut list: AbsenceList = client.get(ListAbsences {}).await?;
    let is_meant =
        |absence: &AbsenceView| named.is_none_or(|named| absence.name == named || absence.id.to_string() == named);
    list.absences.retain(is_meant);
    out.answer(&list, |list| told(list, named));
    Ok(())
}

fn told(list: &AbsenceList, named: Option<&str>) -> String {
    if list.absences.is_empty() {
        return named.map_or_else(|| "nobody is away".to_owned(), |named| format!("{named} is not away"));
    }
    table(&list.absences.iter().map(row).collect::<Vec<_>>())
}

fn row(AbsenceView { name, to_name, until, unreached, .. }: &AbsenceView) -> Vec<String> {
    let instead = if *unreached {
        format!("{to_name} cannot be reached and {name} is told as before")
    } else {
        format!("{to_name} is told instead")
    };
    vec![name.clone(), format!("until {until}"), instead]
}

fn until(args: &Args) -> Result<Timestamp, CliError> {
    let unsaid = || CliError::usage("say until when: --days 7, or --until 2026-08-15T08:00:00Z");
    match (args.until, args.days) {
        (Some(until), _) => Ok(until),
        (None, Some(days)) => Timestamp::from_millisecond(Timestamp::now().as_millisecond() + i64::from(days) * DAY_MS)
            .map_err(|_| unsaid()),
        (None, None) => Err(unsaid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away(name: &str, unreached: bool) -> AbsenceView {
        let id = format!("idn_{}", "0".repeat(32)).parse().unwrap();
        let (name, to_name) = (name.to_owned(), "bob".to_owned());
        AbsenceView { id, name, to: id, to_name, until: "2026-08-15T08:00:00.000Z".to_owned(), unreached }
    }

    #[test]
    fn a13_who_is_away_is_told_with_until_when_and_who_stands_in() {
        let list = AbsenceList { absences: vec![away("ada", false), away("evelyn", true)] };
        let lines = [
            "ada     until 2026-08-15T08:00:00.000Z  bob is told instead",
            "evelyn  until 2026-08-15T08:00:00.000Z  bob cannot be reached and evelyn is told as before",
        ];
        assert_eq!(told(&list, None), lines.join("\n"));
        let nobody = AbsenceList { absences: Vec::new() };
        assert_eq!(told(&nobody, None), "nobody is away");
        assert_eq!(told(&nobody, Some("ada")), "ada is not away");
    }
}
