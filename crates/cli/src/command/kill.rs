//! `placet kill`: the switch that stops everything at once, and lets it go on.
//!
//! On the machine of the control plane, the owner of the home stops everything through the stop socket. That needs no token and works while
//! the control plane accepts no further connections. Resuming needs a token.

use placet_control::{StopError, stop_by_socket};
use placet_wire::api::{HaltRequest, OrganisationView};
use placet_wire::endpoint::{HaltEverything, ReleaseHalt};

use crate::context::Who;
use crate::error::{CliError, Code};
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet kill --all\n  placet kill --all --reason 'agents misbehave'\n  placet kill --release --reason 'looked into it'"
)]
pub(crate) struct Args {
    /// Stop everything: nothing begins, nothing goes on, what runs is ended
    #[arg(long, required_unless_present = "release", conflicts_with = "release")]
    all: bool,
    /// Let everything go on
    #[arg(long)]
    release: bool,
    /// Why; everybody reads it. Whoever stops everything may say nothing
    #[arg(long, required_unless_present = "all")]
    reason: Option<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let reason = args.reason.unwrap_or_default();
    let stopped = if args.release { None } else { stop_here(who, &reason).await? };
    let view: OrganisationView = match stopped {
        Some(view) => view,
        None if args.release => who.client()?.post(ReleaseHalt {}, &HaltRequest { reason }).await?,
        None => who.client()?.post(HaltEverything {}, &HaltRequest { reason }).await?,
    };
    out.answer(&view, |view| {
        let state = if view.halted { "everything is stopped" } else { "everything may go on" };
        styled(BOLD, state).to_string()
    });
    Ok(())
}

/// Stops through the home's stop socket. Returns `None` without a home, without a listening control plane, or if the caller named a server
/// or a token.
async fn stop_here(who: &Who, reason: &str) -> Result<Option<OrganisationView>, CliError> {
    if who.server.is_some() || who.token.is_some() {
        return Ok(None);
    }
    // A home that git cannot judge must not keep anybody from stopping: the socket's peer is checked, and it only stops.
    let Some(home) = who.located_home_if_any()? else { return Ok(None) };
    match stop_by_socket(&home.stop_socket(), reason.to_owned()).await {
        Ok(view) => Ok(Some(view)),
        Err(StopError::NobodyThere { .. }) => Ok(None),
        // The home belongs to another user; a token may still stop it over HTTP.
        Err(StopError::Io { source, .. }) if source.kind() == std::io::ErrorKind::PermissionDenied => Ok(None),
        Err(error @ StopError::Io { .. }) => {
            Err(CliError::failed(error.to_string()).hint("end the control plane itself; nothing goes on without it"))
        }
        Err(StopError::Refused { code, detail }) => {
            let code = if code == "fault" { Code::Failed } else { Code::Conflict };
            Err(CliError::new(code, detail))
        }
    }
}
