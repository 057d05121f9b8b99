//! `placet run pipeline`: the fifteen steps of a run, what each led to and where it stands.

use placet_domain::run::StepState;
use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{PipelineStep, PipelineView};
use placet_wire::endpoint::ShowPipeline;

use crate::context::run_id;
use crate::error::CliError;
use crate::out::{ASK, BAD, BOLD, DIM, GOOD, Out, styled, table};

pub(super) async fn show(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let view: PipelineView = client.get(ShowPipeline { run: id }).await?;
    out.answer(&view, |view| {
        let rows: Vec<Vec<String>> = view.steps.iter().map(row).collect();
        format!("{}  {}\n{}", styled(BOLD, spelled_out(&view.goal)), view.status, table(&rows))
    });
    Ok(())
}

fn row(step: &PipelineStep) -> Vec<String> {
    let name = if step.decision { format!("{} (a person)", step.name) } else { step.name.clone() };
    vec![mark(step.state), step.number.to_string(), name, styled(DIM, step.state), spelled_out(&step.product)]
}

fn mark(state: StepState) -> String {
    match state {
        StepState::Done => styled(GOOD, "✓"),
        StepState::Now => styled(ASK, "▶"),
        StepState::ToCome => "·".to_owned(),
        StepState::Skipped => styled(DIM, "–"),
        StepState::Stopped => styled(BAD, "✗"),
    }
}
