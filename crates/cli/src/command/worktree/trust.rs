//! `placet trust`: the person allows a repository its current setup request, and no other.
//!
//! At a terminal the person is asked. Without one, only the exact digest is accepted; `--show` and refused commands print it. An agent in a
//! cage can reach neither the person's settings nor their trust.

use placet_domain::digest::Digest;
use placet_worktree::host::request::HostRequest;
use serde::Serialize;

use super::Site;
use super::host::{Host, ask, described, is_attended, untrustworthy};
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet trust --show\n  placet trust\n  placet trust --revoke")]
pub(crate) struct Args {
    /// Show the repository's request and whether it is trusted
    #[arg(long)]
    show: bool,
    /// Trust exactly the request with this digest, without a prompt
    #[arg(long, value_name = "DIGEST", conflicts_with = "show")]
    digest: Option<String>,
    /// Revoke the trust
    #[arg(long, conflicts_with_all = ["show", "digest"])]
    revoke: bool,
}

#[derive(Debug, Serialize)]
struct Answer {
    repository: String,
    asks_for: Vec<String>,
    digest: Digest,
    trusted: bool,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let request = HostRequest::of(&site.team);
    let host = Host::of(&site, who)?;
    let trust = host.trust(&site)?;
    if args.revoke {
        trust.revoke().map_err(|error| untrustworthy(&error))?;
    } else if !args.show && !request.is_empty() {
        host.check(&site)?;
        match args.digest {
            Some(seen) => check_digest(&seen, &request)?,
            None if !is_attended(out) => return Err(nobody_to_ask(&request)),
            None => {
                out.note(&described(&request));
                ask().await?;
            }
        }
        trust.give(&request).map_err(|error| untrustworthy(&error))?;
    }
    let trusted = trust.holds(&request).map_err(|error| untrustworthy(&error))?;
    let repository = site.repository.root().display().to_string();
    let answer = Answer { repository, asks_for: request.lines(), digest: request.digest(), trusted };
    out.answer(&answer, |answer| shown(answer, &request));
    Ok(())
}

fn check_digest(seen: &str, request: &HostRequest) -> Result<(), CliError> {
    let wanted = request.digest();
    if seen == wanted.to_string() {
        return Ok(());
    }
    let message = format!("`{seen}` is not what this repository asks for now; nothing was trusted");
    Err(CliError::new(Code::Conflict, message).hint("look again with `placet trust --show`"))
}

fn nobody_to_ask(request: &HostRequest) -> CliError {
    let hint = format!("look with `placet trust --show`, then `placet trust --digest {}`", request.digest());
    CliError::new(Code::Refused, "trust is given at a terminal, or by the exact digest").hint(hint)
}

fn shown(answer: &Answer, request: &HostRequest) -> String {
    if request.is_empty() {
        return "this repository asks for nothing of your machine; there is nothing to trust".to_owned();
    }
    let state = if answer.trusted { "trusted" } else { "not trusted" };
    format!("{}\n{state}: {}", described(request), answer.digest)
}
