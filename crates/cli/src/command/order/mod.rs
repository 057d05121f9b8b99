//! `placet order`: standing orders. Gives one on an action that waits, lists what stands, takes one back.

mod terms;

use jiff::Zoned;
use placet_domain::approval::Width;
use placet_domain::id::ActionId;
use placet_domain::text::marked;
use placet_wire::api::{OrderList, OrderOffer, OrderView, Rejection};
use placet_wire::endpoint::{GiveOrder, ListOrders, ListRunOrders, PreviewOrder, RevokeOrder};
use placet_wire::{Client, ClientError};

use super::approve::Looked;
use super::until;
use super::word::{Asks, agree};
use crate::card::card;
use crate::context::{Who, run_id, short};
use crate::error::{CliError, Code};
use crate::out::{BOLD, DIM, Out, styled, window};
use crate::terminal::rich::{Letters, cut};

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
            let list: OrderList = client.post(RevokeOrder { run: id, number }, &Rejection { reason }).await?;
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
        agree(&Asks::about(&looked.detail.action), &shown, "approve this and its like?").await?;
    }
    let seen = args.seen.unwrap_or_else(|| looked.detail.action.review.to_string());
    // A time of day is meant from when somebody said yes.
    let request = terms.request(&offer, &Zoned::now())?;
    let order: OrderView = client.post_if(GiveOrder { action: id }, &seen, &request).await?;
    out.answer(&order, told);
    out.next(&format!("placet order revoke {} {} --reason TEXT", short(order.run), order.number));
    Ok(())
}

pub(super) async fn offer(client: &Client, action: ActionId) -> Result<OrderOffer, ClientError> {
    client.get(PreviewOrder { action }).await
}

async fn list(client: &Client, run: Option<&str>, out: &Out) -> Result<(), CliError> {
    let list = match run {
        Some(run) => client.get(ListRunOrders { run: run_id(client, run).await? }).await?,
        None => client.get(ListOrders {}).await?,
    };
    out.answer(&list, text);
    Ok(())
}

fn text(list: &OrderList) -> String {
    if list.orders.is_empty() {
        return "no order; one is given with `placet order give ACTION`".to_owned();
    }
    list.orders.iter().map(told).collect::<Vec<_>>().join("\n")
}

/// What it is about; below it how much of it is left and who gave it; and in whose run, for what.
fn told(order: &OrderView) -> String {
    let OrderView { run, number, status, width, used, times, until, .. } = order;
    let [title, giver, agent, goal] =
        [&order.title, &order.giver_name, &order.agent, &order.goal].map(|text| marked(text));
    let because = order.because.as_deref().map(|why| format!(", because {}", marked(why))).unwrap_or_default();
    let head = format!("{}  {number:>2}  {status}", short(run));
    let lines = [
        format!("{head}  {title}"),
        format!("{BELOW}{width}, {used} of {times} used, until {until}, given by {giver}{because}"),
        format!("{BELOW}for {agent}: {goal}"),
    ];
    let [what, left, whose] = lines.map(|line| match window() {
        Some(columns) => cut(&line, columns, Letters::All),
        None => line,
    });
    let what = what.replacen(status.as_str(), &styled(BOLD, status), 1);
    format!("{what}\n{}\n{}", styled(DIM, left), styled(DIM, whose))
}

/// Under what the order is about.
const BELOW: &str = "               ";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn b4_an_order_is_listed_by_what_it_is_about_whose_run_it_is_and_who_gave_it() {
        let (id, digest) = ("0".repeat(32), format!("sha256:{}", "a".repeat(64)));
        let order: OrderView = serde_json::from_value(json!({
            "run": format!("run_{id}"), "project": format!("prj_{id}"), "goal": "try things", "number": 3, "status": "STANDS",
            "action": format!("act_{id}"), "tool": "nmap", "title": "nmap -sV \u{202e}10.0.0.5", "agent": "tom", "width": "exact",
            "class": digest, "giver": format!("idn_{id}"), "giver_name": "rita", "given_at": "2026-01-31T09:00:00.000Z",
            "until": "2026-01-31T10:30:00.000Z", "times": 20, "used": 7,
        }))
        .unwrap();
        let shown = anstream::adapter::strip_str(&told(&order)).to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "…00000000   3  STANDS  nmap -sV ⟦U+202E⟧10.0.0.5");
        assert!(lines[1].ends_with("exact, 7 of 20 used, until 2026-01-31T10:30:00.000Z, given by rita"), "{shown}");
        assert!(lines[2].ends_with("for tom: try things"), "{shown}");
    }
}
