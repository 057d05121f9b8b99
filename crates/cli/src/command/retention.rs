//! `placet evidence expire` and `preserve`: what is removed after its time, and what stays whatever was agreed.

use placet_wire::Client;
use placet_wire::api::{Decision, ExpiryView, PreservationRequest, PreservationView, RetentionView};
use placet_wire::endpoint::{EndPreservation, ExpireEvidence, PreserveEvidence, ShowRetention};

use crate::command::project;
use crate::context::run_id;
use crate::error::CliError;
use crate::out::{BOLD, Out, styled, table};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet evidence expire --dry-run\n  placet evidence expire --yes\n\nAfter how many days, `[retention]` of placet.toml says; without it nothing is ever removed.\nThe ledger stays whole: each removal is an entry of it, written before the bytes go."
)]
pub(crate) struct Expire {
    /// The project, by name or id; may be left out if there is one
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only show what would be removed
    #[arg(long, required_unless_present = "yes", conflicts_with = "yes")]
    dry_run: bool,
    /// Remove it; this cannot be undone
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet evidence preserve --run RUN --reason 'the auditors asked'\n  placet evidence preserve --reason 'all of it, until the inquiry is over'\n  placet evidence preserve --run RUN --end --reason 'they are done'"
)]
pub(crate) struct Preserve {
    /// The project, by name or id; may be left out if there is one
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only what this run names; everything of the project, if no run is named
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Let it follow the settings again
    #[arg(long)]
    end: bool,
    /// Why; others will read it
    #[arg(long)]
    reason: String,
}

pub(super) async fn expire(args: Expire, client: &Client, out: &Out) -> Result<(), CliError> {
    let project = project::find(client, args.project.as_deref()).await?;
    let project = project.id;
    if args.yes {
        let expired: ExpiryView = client.post(ExpireEvidence { project }, &Decision {}).await?;
        out.answer(&expired, removed);
        return Ok(());
    }
    let view: RetentionView = client.get(ShowRetention { project }).await?;
    out.answer(&view, would_be_removed);
    if view.removable_count > 0 {
        out.next("placet evidence expire --yes");
    }
    Ok(())
}

fn removed(expired: &ExpiryView) -> String {
    let ExpiryView { removed, removed_bytes, freed_bytes } = expired;
    format!(
        "{} contents removed ({removed_bytes} bytes), {freed_bytes} bytes are free on the disk",
        styled(BOLD, removed)
    )
}

fn would_be_removed(view: &RetentionView) -> String {
    let days = |days: Option<u32>| days.map_or_else(|| String::from("never"), |days| format!("after {days} days"));
    let rule = format!("contents are removed {}, results {}", days(view.evidence_days), days(view.results_days));
    let kept = format!("{} are needed or preserved, and the time of {} has not come", view.needed, view.young);
    let count = format!("{} would be removed ({} bytes)", styled(BOLD, view.removable_count), view.removable_bytes);
    let row = |content: &placet_wire::api::RemovableView| {
        vec![content.digest.to_string(), format!("{} bytes", content.size_bytes), format!("entry {}", content.kept)]
    };
    let rows = table(&view.removable.iter().map(row).collect::<Vec<_>>());
    let lines = [rule, kept, count].into_iter().chain(view.preserved.iter().map(preserved));
    lines.chain((!rows.is_empty()).then_some(rows)).collect::<Vec<_>>().join("\n")
}

fn preserved(preserved: &PreservationView) -> String {
    let what = preserved.run.map_or_else(|| String::from("everything"), |run| run.to_string());
    format!("preserved: {what} ({})", placet_domain::text::spelled_out(&preserved.reason))
}

pub(super) async fn preserve(args: Preserve, client: &Client, out: &Out) -> Result<(), CliError> {
    let project = project::find(client, args.project.as_deref()).await?;
    let run = match &args.run {
        Some(typed) => Some(run_id(client, typed).await?),
        None => None,
    };
    let (project, request) = (project.id, PreservationRequest { run, reason: args.reason });
    let list = match args.end {
        true => client.post(EndPreservation { project }, &request).await?,
        false => client.post(PreserveEvidence { project }, &request).await?,
    };
    out.answer(&list, |list| match &list.preserved[..] {
        [] => String::from("nothing is preserved; contents follow the settings"),
        all => all.iter().map(preserved).collect::<Vec<_>>().join("\n"),
    });
    Ok(())
}
