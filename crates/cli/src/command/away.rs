//! `placet away`: somebody else is told what you would be told, for a while. They decide by their own rights.

use jiff::Timestamp;
use placet_wire::api::{AwayRequest, Decision, IdentityView};

use super::identity;
use crate::context::Who;
use crate::error::CliError;
use crate::out::Out;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet --as ada away --to bob --days 7\n  placet --as ada away --to bob --until 2026-08-15T08:00:00Z\n  placet --as ada away --back"
)]
pub(crate) struct Args {
    /// Who stands in, by name or id
    #[arg(long, value_name = "NAME", required_unless_present = "back", conflicts_with = "back")]
    to: Option<String>,
    /// Until when (RFC 3339), within 90 days
    #[arg(long, value_name = "TIME", conflicts_with = "back")]
    until: Option<Timestamp>,
    /// For so many days from now, instead of --until
    #[arg(long, value_name = "DAYS", conflicts_with_all = ["back", "until"], value_parser = clap::value_parser!(u8).range(1..=90))]
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
    let id = match &args.who {
        Some(named) => identity::find(&client, named).await?,
        None => client.get::<IdentityView>("/api/v1/whoami").await?.id,
    };
    let Some(to) = args.to.clone() else {
        let view: IdentityView = client.post(&format!("/api/v1/identities/{id}/back"), &Decision::default()).await?;
        out.answer(&serde_json::json!(view), |_| format!("{} is back and is told again", view.name));
        return Ok(());
    };
    let request = AwayRequest { to, until: until(&args)?.to_string() };
    let view: IdentityView = client.post(&format!("/api/v1/identities/{id}/away"), &request).await?;
    out.answer(&serde_json::json!(view), |_| {
        let until = view.away.as_ref().map_or("", |away| away.until.as_str());
        format!("{} is away until {until}; {} is told instead, and decides by their own rights", view.name, request.to)
    });
    Ok(())
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
