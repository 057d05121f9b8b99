//! `placet order`: standing orders. Gives one on an action that waits, lists what stands, takes one back.

use std::fmt::Write as _;

use jiff::{ToSpan as _, Zoned, civil::Time};
use placet_domain::action::ActionStatus;
use placet_domain::approval::Width;
use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{OrderList, OrderOffer, OrderRequest, OrderView, Rejection, WidthView};

use super::approve::{Looked, confirm};
use crate::card::card;
use crate::context::{Who, run_id, short};
use crate::error::{CliError, Code};
use crate::out::{BAD, BOLD, DIM, Out, styled, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Approve an action, and its like in the same run until then
    #[command(
        after_help = "You are shown the action, what the order covers and what it would have covered so far, and asked. It ends at its time, after so many actions, with its run, with a rollback, with another policy, when somebody rejects an action of the same tool, or when it is revoked.\n\nExamples:\n  placet --as ada order give ID --until 18:00\n  placet --as ada order give ID --until 2h --times 5 --width contents"
    )]
    Give(GiveArgs),
    /// Orders that stand, in all runs you see; or all orders of one run
    List {
        /// Only of this run, also those that are over
        #[arg(long)]
        run: Option<String>,
    },
    /// Take an order back; what it approved and has not begun is withdrawn
    Revoke {
        run: String,
        /// Which of its orders, as `placet order list` numbers them
        number: u32,
        #[arg(long)]
        reason: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct GiveArgs {
    /// The action, by its id or the end of it
    action: String,
    /// Until when: a time of day here (18:00), or for how long (90m, 2h)
    #[arg(long, value_name = "TIME", default_value = "1h")]
    until: String,
    /// For how many more actions at most
    #[arg(long, default_value_t = 20)]
    times: u32,
    /// What is the same: `exact` (everything) or `contents` (all but what stands in the files)
    #[arg(long, default_value = "exact")]
    width: Width,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// The review digest you saw; anything else is refused
    #[arg(long, value_name = "DIGEST")]
    seen: Option<String>,
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    match command {
        Command::Give(args) => give(&client, args, out).await,
        Command::List { run } => list(&client, run.as_deref(), out).await,
        Command::Revoke { run, number, reason } => {
            let id = run_id(&client, &run).await?;
            let path = format!("/api/v1/runs/{id}/orders/{number}/revoke");
            let list: OrderList = client.post(&path, &Rejection { reason }).await?;
            out.answer(&list, text);
            Ok(())
        }
    }
}

async fn give(client: &Client, args: GiveArgs, out: &Out) -> Result<(), CliError> {
    let lasts_ms = lasts_ms(&args.until, &Zoned::now())?;
    let looked = Looked::at(client, &args.action).await?;
    let path = format!("/api/v1/actions/{}/order", looked.detail.action.id);
    let offer: OrderOffer = client.get(&path).await?;
    if let Some(why) = &offer.refused {
        return Err(CliError::new(Code::Refused, why.clone()).hint("decide on it with `placet approve ID`"));
    }
    if !args.yes {
        let shown = format!("{}\n{}", card(&looked.detail, looked.before.as_ref()), told(&offer, &args));
        confirm(&shown, "approve this and its like?").await?;
    }
    let seen = args.seen.unwrap_or_else(|| looked.detail.action.review.to_string());
    let request = OrderRequest { width: args.width, lasts_ms: Some(lasts_ms), times: Some(args.times) };
    let order: OrderView = client.post_if(&path, &seen, &request).await?;
    out.answer(&order, |order| table(&[row(order)]));
    out.next(&format!("placet order revoke {} {} --reason TEXT", short(order.run), order.number));
    Ok(())
}

/// What the order says yes to, and what it would have said yes to so far.
fn told(offer: &OrderOffer, args: &GiveArgs) -> String {
    let same = match args.width {
        Width::Exact => "exactly the same, the contents of its files too",
        Width::Contents => "the same but for what stands in the files it writes",
    };
    let mut text = format!(
        "{}\n  this action, and up to {} more of this run that are {same}, until {}\n",
        styled(BOLD, "What you approve"),
        args.times,
        args.until
    );
    text.push_str(
        "  what a program finds in the workspace or gets from others may differ each time, and nobody will look\n",
    );
    let width = offer.widths.iter().find(|width| width.width == args.width.as_str());
    match width.filter(|width| !width.would_cover.is_empty()) {
        None => text.push_str("  nothing of this run so far would have been covered\n"),
        Some(width) => text.push_str(&so_far(width)),
    }
    text
}

fn so_far(width: &WidthView) -> String {
    let mut text = "  of this run it would have covered:\n".to_owned();
    for covered in &width.would_cover {
        let status = covered.status.as_str();
        let status = if covered.status == ActionStatus::Rejected { styled(BAD, status) } else { status.to_owned() };
        let _ = writeln!(text, "    {}  {}  {status}", short(covered.action), covered.proposed_at);
    }
    text
}

async fn list(client: &Client, run: Option<&str>, out: &Out) -> Result<(), CliError> {
    let path = match run {
        Some(run) => format!("/api/v1/runs/{}/orders", run_id(client, run).await?),
        None => "/api/v1/orders".to_owned(),
    };
    let list: OrderList = client.get(&path).await?;
    out.answer(&list, text);
    Ok(())
}

fn text(list: &OrderList) -> String {
    if list.orders.is_empty() {
        return "no order; one is given with `placet order give ACTION`".to_owned();
    }
    table(&list.orders.iter().map(row).collect::<Vec<_>>())
}

fn row(order: &OrderView) -> Vec<String> {
    vec![
        short(order.run),
        order.number.to_string(),
        styled(BOLD, &order.status),
        spelled_out(&order.tool),
        order.width.clone(),
        format!("{} of {} used", order.used, order.times),
        format!("until {}", order.until),
        styled(DIM, format!("given by {} on {}", short(order.giver), short(order.action))),
        order.because.as_deref().map(spelled_out).unwrap_or_default(),
    ]
}

/// How long it is until then: a time of day where one is, today or else tomorrow; or simply how long.
fn lasts_ms(until: &str, now: &Zoned) -> Result<u64, CliError> {
    let bad = || {
        CliError::usage(format!("`{}` is no time", spelled_out(until)))
            .hint("give a time of day (18:00) or how long (90m, 2h)")
    };
    if until.contains(':') {
        let time: Time = until.parse().map_err(|_| bad())?;
        let today = now.with().time(time).build().map_err(|_| bad())?;
        let end = if today > *now { today } else { today.checked_add(1.day()).map_err(|_| bad())? };
        let millis = end.timestamp().as_millisecond() - now.timestamp().as_millisecond();
        return u64::try_from(millis).map_err(|_| bad());
    }
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let found = units.iter().find_map(|(unit, millis)| Some((until.strip_suffix(unit)?.parse::<u64>().ok()?, *millis)));
    found.and_then(|(count, millis)| count.checked_mul(millis)).filter(|millis| *millis > 0).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_half_past_five() -> Zoned {
        "2026-01-31T17:30:00+01:00[+01:00]".parse().unwrap()
    }

    #[test]
    fn b4_until_is_a_time_of_day_here_or_how_long() {
        let now = at_half_past_five();
        for (until, millis) in [
            ("18:00", 1_800_000),
            ("17:30", 86_400_000),
            ("17:00", 84_600_000),
            ("90m", 5_400_000),
            ("2h", 7_200_000),
            ("45s", 45_000),
        ] {
            assert_eq!(lasts_ms(until, &now).unwrap(), millis, "{until}");
        }
    }

    #[test]
    fn what_is_no_time_is_not_guessed_at() {
        for until in ["", "18", "25:00", "2d", "-1h", "0h", "h", "18:00 tomorrow", "99999999999999999h"] {
            assert_eq!(lasts_ms(until, &at_half_past_five()).unwrap_err().code, Code::Usage, "{until}");
        }
    }
}
