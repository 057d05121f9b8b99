//! `placet safe-mode`: the switch that lets everything only look, whether it is thrown, and its release.
//!
//! Unlike `placet kill` it ends nothing that only looks: agents go on, and find out what they can.

use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{HaltRequest, OrganisationView};
use placet_wire::endpoint::{EndSafeMode, ShowOrganisation, StartSafeMode};

use crate::context::Who;
use crate::error::CliError;
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  placet safe-mode\n  placet safe-mode on --reason 'something writes where it should not'\n  placet safe-mode off --reason 'found it'"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Only what looks goes on, everywhere; what is being changed is ended, what was approved waits
    On {
        /// Why; everybody reads it
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Let changes be made again
    Off {
        /// Why; everybody reads it
        #[arg(long)]
        reason: String,
    },
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    let view: OrganisationView = match args.command {
        None => client.get(ShowOrganisation {}).await?,
        Some(Command::On { reason }) => client.post(StartSafeMode {}, &HaltRequest { reason }).await?,
        Some(Command::Off { reason }) => client.post(EndSafeMode {}, &HaltRequest { reason }).await?,
    };
    out.answer(&view, text);
    Ok(())
}

fn text(view: &OrganisationView) -> String {
    let state = match &view.safe_mode {
        Some(safe) => format!("{}: {}", styled(BOLD, "safe mode is on"), spelled_out(&safe.because)),
        None => styled(BOLD, "safe mode is off"),
    };
    format!("{state}{}", stopped(view).map(|line| format!("\n{line}")).unwrap_or_default())
}

fn stopped(view: &OrganisationView) -> Option<String> {
    let why = view.because.as_deref().filter(|_| view.halted)?;
    Some(format!("{}: {}", styled(BOLD, "everything is stopped"), spelled_out(why)))
}

/// Says that a switch is thrown, to whoever looks at what waits: it waits for that too. Who may not know hears nothing.
pub(in crate::command) async fn remind(client: &Client, out: &Out) {
    let Ok(view) = client.get(ShowOrganisation {}).await else { return };
    if view.safe_mode.is_some() {
        out.note(&text(&view));
    } else if let Some(line) = stopped(&view) {
        out.note(&line);
    }
}
