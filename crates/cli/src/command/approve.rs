//! `placet approve`: shows what will be done, asks, and approves exactly that. Or, with changes, something else in its place.

use std::path::PathBuf;

use placet_wire::api::{ActionDetail, ActionView, Decision};
use placet_wire::endpoint::{ApproveAction, ShowAction};
use placet_wire::{Client, ClientError};

use super::amend::{self, Source, Wanted};
use super::content;
use super::word::{Asks, Word, agree, is_attended};
use crate::card::{self, Before, card};
use crate::context::{Who, action_id};
use crate::error::CliError;
use crate::out::Out;
use crate::terminal::asked;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --yes you are shown the action and asked. With --yes and --seen, only what you saw is approved. Where two people are asked, the name of the tool is typed, or given as --confirm together with --yes and --seen.\n\nWith --edit or --with you approve something else in its place: what was proposed can never run then. Your yes counts if the change is no riskier; otherwise somebody else must approve it.\n\nExamples:\n  placet --as ada approve ID\n  placet --as ada approve ID --yes --confirm nmap --seen sha256:…\n  placet --as ada approve ID --edit --reason 'without the version scan'\n  echo '{\"arguments\": [\"-sn\"]}' | placet --as ada approve ID --with - --yes --reason 'without the version scan'"
)]
pub(crate) struct Args {
    /// The actions, by their ids or the ends of them
    #[arg(required = true)]
    actions: Vec<String>,
    #[command(flatten)]
    word: Word,
    /// Change it in your editor (VISUAL, EDITOR) and approve what you made of it
    #[arg(long, conflicts_with_all = ["with", "yes"], requires = "reason")]
    edit: bool,
    /// Approve it with the fields in this JSON file replaced; `-` reads standard input
    #[arg(long, value_name = "FILE", requires = "reason")]
    with: Option<PathBuf>,
    /// Why you change it; the agent reads it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// An action as somebody is about to decide on it, and what it replaces.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) detail: ActionDetail,
    pub(super) before: Option<Before>,
}

impl Looked {
    pub(super) async fn at(client: &Client, typed: &str) -> Result<Self, CliError> {
        let id = action_id(client, typed).await?;
        let detail: ActionDetail = client.get(ShowAction { action: id }).await?;
        let before = before(client, &detail).await?;
        Ok(Self { detail, before })
    }
}

/// What an amended action replaces.
pub(super) async fn before(client: &Client, detail: &ActionDetail) -> Result<Option<Before>, CliError> {
    let Some(amendment) = &detail.action.amendment else { return Ok(None) };
    let before: ActionDetail = client.get(ShowAction { action: amendment.of }).await?;
    let texts = content::changed_lines(client, &before, detail).await?;
    Ok(Some(Before { detail: before, texts }))
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    check(&args)?;
    let mut looked = Vec::new();
    for typed in &args.actions {
        looked.push(Looked::at(&client, typed).await?);
    }
    // What is no yes for one of them decides none of them.
    let asks = looked.iter().map(|looked| args.word.asks(&looked.detail.action, is_attended()));
    let asks: Vec<Asks> = asks.collect::<Result<_, _>>()?;
    let mut decided = Vec::new();
    for (looked, asks) in looked.iter().zip(asks) {
        decided.push(match wanted(&args, asks.clone())? {
            Some(wanted) => amend::amend(&client, looked, wanted, out).await?,
            None => plainly(&client, &who.seat(&client)?, looked, (&args.word, &asks)).await?,
        });
    }
    out.answer(&decided, |decided| card::rows(decided));
    Ok(())
}

fn check(args: &Args) -> Result<(), CliError> {
    let changes = args.edit || args.with.is_some();
    if args.actions.len() > 1 && (args.word.seen.is_some() || changes) {
        return Err(CliError::usage("--seen, --edit and --with go with one action"));
    }
    if args.reason.is_some() && !changes {
        return Err(CliError::usage("an approval needs no reason; --reason goes with --edit or --with"));
    }
    Ok(())
}

fn wanted(args: &Args, asks: Asks) -> Result<Option<Wanted>, CliError> {
    let source = match &args.with {
        Some(path) if path.as_os_str() == "-" => Source::Stdin,
        Some(path) => Source::File(path.clone()),
        None if args.edit => Source::Editor,
        None => return Ok(None),
    };
    if matches!(source, Source::Stdin) && !args.word.yes {
        return Err(CliError::usage("nobody is there to ask: the changes come from standard input").hint("add --yes"));
    }
    let (reason, seen) = (args.reason.clone().unwrap_or_default(), args.word.seen.clone());
    Ok(Some(Wanted { source, reason, seen, asks }))
}

async fn plainly(
    client: &Client,
    seat: &str,
    looked: &Looked,
    (word, asks): (&Word, &Asks),
) -> Result<ActionView, CliError> {
    agree(asks, &card(&looked.detail, looked.before.as_ref()), "approve exactly this?").await?;
    let seen = word.seen.clone().unwrap_or_else(|| looked.detail.action.review.to_string());
    approve(client, seat, &looked.detail, &seen).await
}

/// `seat` is where people come with a browser.
pub(super) async fn approve(
    client: &Client,
    seat: &str,
    detail: &ActionDetail,
    seen: &str,
) -> Result<ActionView, CliError> {
    let refused = |error: ClientError| signed_elsewhere(seat, detail, error);
    client.post_if(ApproveAction { action: detail.action.id }, seen, &Decision::default()).await.map_err(refused)
}

/// Where a passkey signs, a browser is needed: where its page is, by a name, since browsers know no passkeys for numbers.
fn signed_elsewhere(seat: &str, detail: &ActionDetail, error: ClientError) -> CliError {
    let needs_passkey = matches!(&error, ClientError::Refused(problem) if problem.code == "passkey_needed");
    let error = CliError::from(error);
    if !needs_passkey {
        return error;
    }
    let named = seat.replacen("//127.0.0.1", "//localhost", 1);
    error.hint(format!("open {named}/actions/{}", detail.action.id))
}

/// Shows the card and takes only an explicit yes, or where two people are asked the name of the tool.
pub(super) async fn ask(detail: &ActionDetail, before: Option<&Before>) -> Result<(), CliError> {
    agree(&Asks::about(&detail.action), &card(detail, before), "approve exactly this?").await
}

/// Leaves what was said where it is until somebody has read it.
pub(super) async fn pause_for_enter() -> Result<(), CliError> {
    asked::answer("press enter to go on").await?;
    Ok(())
}
