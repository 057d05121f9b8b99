//! `placet decisions`: how long questions to people wait and how they end; and, for oneself alone, how one decides.

use placet_domain::id::ProjectId;
use placet_wire::api::{DecisionCounts, DecisionSummary, HabitView, SpreadView, SummaryQuery};
use placet_wire::endpoint::{ShowOwnDecisions, SummarizeDecisions};

use crate::context::Who;
use crate::error::CliError;
use crate::out::{Out, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How you decide, which nobody else can ask for
    #[arg(long)]
    mine: bool,
    /// Only this project, by its id
    #[arg(long, conflicts_with = "mine")]
    project: Option<ProjectId>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    if args.mine {
        let mine: HabitView = client.get(ShowOwnDecisions {}).await?;
        out.answer(&mine, |mine| table(&habits(mine)));
        return Ok(());
    }
    let summary = client.get(SummarizeDecisions { query: SummaryQuery { project: args.project } }).await?;
    out.answer(&summary, |summary| table(&figures(summary)));
    Ok(())
}

fn figures(summary: &DecisionSummary) -> Vec<Vec<String>> {
    let mut rows = vec![row("since", &summary.since)];
    rows.extend(waits("waited", summary.waited.as_ref()));
    rows.extend(counts(&summary.counts));
    for tier in &summary.tiers {
        rows.extend(waits(&format!("waited, tier {}", tier.tier), tier.waited.as_ref()));
    }
    rows.push(row("wait now", &summary.waiting.count.to_string()));
    rows.extend(summary.waiting.oldest_ms.map(|oldest_ms| row("oldest of them", &span(oldest_ms))));
    rows
}

fn habits(mine: &HabitView) -> Vec<Vec<String>> {
    let mut rows = vec![row("since", &mine.since)];
    rows.extend(waits("waited", mine.waited.as_ref()));
    rows.extend(counts(&mine.counts));
    rows.push(row("longest row of approvals", &mine.streak.to_string()));
    rows.extend(mine.signals.iter().map(|signal| row("stands out", signal)));
    rows
}

fn row(name: &str, value: &str) -> Vec<String> {
    vec![name.to_owned(), value.to_owned()]
}

fn waits(name: &str, waited: Option<&SpreadView>) -> Vec<Vec<String>> {
    let Some(SpreadView { median_ms, p90_ms, count }) = waited else { return vec![row(name, "unknown")] };
    vec![row(name, &format!("half within {}, nine of ten within {} ({count})", span(*median_ms), span(*p90_ms)))]
}

fn counts(counts: &DecisionCounts) -> Vec<Vec<String>> {
    [
        ("approved", counts.approved),
        ("of these alone", counts.single_operator),
        ("rejected", counts.rejected),
        ("amended", counts.amended),
        ("expired", counts.expired),
        ("withdrawn", counts.withdrawn),
    ]
    .into_iter()
    .map(|(name, count)| row(name, &count.to_string()))
    .collect()
}

fn span(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..120_000 => format!("{} s", millis / 1_000),
        120_000..7_200_000 => format!("{} min", millis / 60_000),
        _ => format!("{} h", millis / 3_600_000),
    }
}
