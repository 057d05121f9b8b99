//! What the cages of a run were refused: which hosts a person could open for it, and the decision about one of them.

use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{GrantRequest, Rejection, WishList, WishView};
use placet_wire::endpoint::{GrantWish, ListWishes, RejectWish, RevokeWish};

use crate::context::{run_id, short};
use crate::error::CliError;
use crate::out::{BOLD, DIM, Out, styled, table};

async fn look(client: &Client, run: &str) -> Result<WishList, CliError> {
    let id = run_id(client, run).await?;
    Ok(client.get(ListWishes { run: id }).await?)
}

pub(super) async fn show(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let list = look(client, run).await?;
    out.answer(&list, text);
    if let Some(wish) = list.wishes.iter().find(|wish| wish.status == "WAITING") {
        out.next(&format!("placet run allow {} {}", short(list.run), wish.number));
    }
    Ok(())
}

/// What is granted is what is shown.
pub(super) async fn allow(
    client: &Client,
    run: &str,
    number: u32,
    minutes: Option<u64>,
    out: &Out,
) -> Result<(), CliError> {
    let list = look(client, run).await?;
    let wish = list.wishes.iter().find(|wish| wish.number == number);
    let wish =
        wish.ok_or_else(|| CliError::usage(format!("this run has no wish {number}")).hint("placet run wishes RUN"))?;
    out.note(&line(wish).join("  "));
    let asked = GrantRequest { lasts_ms: minutes.map(|minutes| minutes.saturating_mul(60_000)) };
    let list: WishList = client.post_if(GrantWish { run: list.run, number }, wish.review, &asked).await?;
    out.answer(&list, text);
    Ok(())
}

pub(super) async fn reject(client: &Client, run: &str, number: u32, reason: String, out: &Out) -> Result<(), CliError> {
    let run = run_id(client, run).await?;
    let list = client.post(RejectWish { run, number }, &Rejection { reason }).await?;
    out.answer(&list, text);
    Ok(())
}

pub(super) async fn revoke(client: &Client, run: &str, number: u32, reason: String, out: &Out) -> Result<(), CliError> {
    let run = run_id(client, run).await?;
    let list = client.post(RevokeWish { run, number }, &Rejection { reason }).await?;
    out.answer(&list, text);
    Ok(())
}

fn line(wish: &WishView) -> Vec<String> {
    let until = wish.until.as_deref().map(|until| format!("until {until}")).unwrap_or_default();
    let because = wish.because.as_deref().map(spelled_out).unwrap_or_default();
    vec![
        format!("{}", wish.number),
        styled(BOLD, &wish.status),
        spelled_out(&wish.opening),
        styled(DIM, format!("for {}", short(wish.action))),
        format!("{until}{because}"),
    ]
}

pub(in crate::command) fn text(list: &WishList) -> String {
    if list.wishes.is_empty() {
        return "nothing was refused that could be allowed".to_owned();
    }
    table(&list.wishes.iter().map(line).collect::<Vec<_>>())
}
