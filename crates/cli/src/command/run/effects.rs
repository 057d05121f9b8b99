//! `placet run effects` and `placet run perform`: what a run would do outside of its workspace, and doing it after all.
//!
//! What is performed is decided action by action, on the card that shows the sealed bytes. A policy that changed since asks again.

use std::fmt::Write as _;

use placet_domain::action::ActionStatus;
use placet_domain::text::{marked, spelled_out};
use placet_wire::Client;
use placet_wire::api::{ActionDetail, ActionView, Decision, PageQuery, RunView};
use placet_wire::endpoint::{ListEffects, PerformAction, ShowAction};

use super::{look, outputs};
use crate::card::{self, card};
use crate::command::word::{Word, agree, is_attended};
use crate::context::{action_id, short};
use crate::error::{CliError, Code};
use crate::out::{BOLD, Out, styled, table};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --yes you are shown each action and asked. What is done are exactly the bytes that were rehearsed. Where two people are asked, the name of the tool is typed, or given as --confirm together with --yes and --seen, action by action.\n\nExample:\n  placet --as ada run perform 3f2a"
)]
pub(crate) struct PerformArgs {
    run: String,
    /// Only these actions, by their ids or the ends of them; otherwise everything that was rehearsed, in its order
    actions: Vec<String>,
    #[command(flatten)]
    word: Word,
}

pub(super) async fn show(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let view = look(client, run).await?;
    let effects = all(client, &view).await?;
    let both = serde_json::json!({ "run": view, "effects": effects });
    out.answer(&both, |_| shown(&view, &effects));
    Ok(())
}

async fn all(client: &Client, run: &RunView) -> Result<Vec<ActionDetail>, CliError> {
    let run = run.id;
    let mut page = client.get(ListEffects { run, query: PageQuery::default() }).await?;
    let mut effects = page.effects;
    while let Some(next) = page.next {
        page = client.get(ListEffects { run, query: PageQuery { after: Some(next), limit: None } }).await?;
        effects.extend(page.effects);
    }
    Ok(effects)
}

fn shown(run: &RunView, effects: &[ActionDetail]) -> String {
    let mut text = format!("{}\n{} {}\n", styled(BOLD, spelled_out(&run.goal)), run.status, run.meaning);
    text.push_str(&outputs(run).unwrap_or_default());
    for path in &run.removed {
        let _ = writeln!(text, "removed  {}", spelled_out(path));
    }
    text.push_str(&super::budget::line(run).unwrap_or_default());
    if effects.is_empty() {
        text.push_str("\nnothing was rehearsed");
        return text;
    }
    let row = |effect: &ActionDetail| {
        let action = &effect.action;
        // Whole: who has it done without being asked has seen it nowhere else.
        let does = effect.spec.argv.iter().map(|word| marked(word)).collect::<Vec<_>>().join(" ");
        vec![short(action.id), action.verdict.tier.clone(), action.kind.clone(), does]
    };
    let rows: Vec<_> = effects.iter().map(row).collect();
    let _ = write!(text, "\nrehearsed, not done\n{}", table(&rows));
    text
}

pub(super) async fn perform(args: PerformArgs, client: &Client, out: &Out) -> Result<(), CliError> {
    let view = look(client, &args.run).await?;
    let mut effects = all(client, &view).await?;
    if !args.actions.is_empty() {
        let mut named = Vec::new();
        for typed in &args.actions {
            named.push(action_id(client, typed).await?);
        }
        if let Some(other) = named.iter().find(|id| !effects.iter().any(|effect| effect.action.id == **id)) {
            return Err(CliError::usage(format!("`{other}` is nothing that this run rehearsed and did not do"))
                .hint("`placet run effects RUN` lists what it did"));
        }
        effects.retain(|effect| named.contains(&effect.action.id));
    }
    if args.word.seen.is_some() && effects.len() != 1 {
        return Err(CliError::usage("--seen goes with one action").hint("name it: placet run perform RUN ACTION"));
    }
    // What is no yes for one of them has none of them done.
    for effect in &effects {
        args.word.asks(&effect.action, is_attended())?;
    }
    let mut decided = Vec::new();
    for effect in &effects {
        decided.push(decide(client, effect, &args.word, out).await?);
    }
    out.answer(&decided, |decided| card::rows(decided));
    Ok(())
}

/// Asks as often as what would be done is judged anew.
async fn decide(client: &Client, effect: &ActionDetail, word: &Word, out: &Out) -> Result<ActionView, CliError> {
    let mut effect = effect.clone();
    // Only what was shown first can have been seen before.
    let mut said = word.seen.clone();
    loop {
        agree(&word.asks(&effect.action, is_attended())?, &card(&effect, None), "have exactly this done?").await?;
        let seen = said.take().unwrap_or_else(|| effect.action.review.to_string());
        let after: ActionView =
            client.post_if(PerformAction { action: effect.action.id }, &seen, &Decision::default()).await?;
        let anew = "the policy changed since it was rehearsed: it was judged again";
        if after.status == ActionStatus::Denied {
            return Err(CliError::new(Code::Refused, format!("{anew}, and is refused now")));
        }
        if after.status != ActionStatus::Rehearsed {
            return Ok(after);
        }
        // Nobody has looked at what it is by that policy.
        if word.yes {
            let hint = "look at it with `placet run effects`, then say it again";
            return Err(CliError::new(Code::Conflict, anew).hint(hint));
        }
        out.note(anew);
        effect = client.get(ShowAction { action: after.id }).await?;
    }
}
