//! `placet order`: standing orders. Gives one on an action that waits, lists what stands, takes one back.

mod terms;

use jiff::Zoned;
use placet_domain::approval::Width;
use placet_domain::id::ActionId;
use placet_domain::text::spelled_out;
use placet_wire::api::{OrderList, OrderOffer, OrderView, Rejection};
use placet_wire::{Client, ClientError};

use super::approve::{Looked, confirm};
use super::until;
use crate::card::card;
use crate::context::{Who, run_id, short};
use crate::error::{CliError, Code};
use crate::out::{BOLD, DIM, Out, styled, table};

pub(super) use terms::{AN_HOUR, SOME, Terms};

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
    #[arg(long, value_name = "TIME", default_value = AN_HOUR)]
    until: String,
    /// For how many more actions at most
    #[arg(long, default_value_t = SOME)]
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
    let terms = Terms { width: args.width, until: args.until, times: args.times };
    // What is no time is told before anything is shown.
    until::lasts_ms(&terms.until, &Zoned::now())?;
    let looked = Looked::at(client, &args.action).await?;
    let id = looked.detail.action.id;
    let offer = offer(client, id).await?;
    if let Some(why) = &offer.refused {
        return Err(CliError::new(Code::Refused, why.clone()).hint("decide on it with `placet approve ID`"));
    }
    terms.request(&offer, &Zoned::now())?;
    if !args.yes {
        let shown = format!("{}\n{}", card(&looked.detail, looked.before.as_ref()), terms.told(&offer));
        confirm(&shown, "approve this and its like?").await?;
    }
    let seen = args.seen.unwrap_or_else(|| looked.detail.action.review.to_string());
    // A time of day is meant from when somebody said yes.
    let request = terms.request(&offer, &Zoned::now())?;
    let order: OrderView = client.post_if(&path(id), &seen, &request).await?;
    out.answer(&order, |order| table(&[row(order)]));
    out.next(&format!("placet order revoke {} {} --reason TEXT", short(order.run), order.number));
    Ok(())
}

/// Where an order on an action is asked about and given.
pub(super) fn path(action: ActionId) -> String {
    format!("/api/v1/actions/{action}/order")
}

pub(super) async fn offer(client: &Client, action: ActionId) -> Result<OrderOffer, ClientError> {
    client.get(&path(action)).await
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
