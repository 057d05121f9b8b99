//! `placet init`: sets up a home. Idempotent in the sense that matters: what exists is never touched.

use std::net::SocketAddr;
use std::path::PathBuf;

use placet_control::bootstrap;
use placet_domain::identity::Role;
use serde::Serialize;

use super::serve::open_store;
use crate::context::Who;
use crate::error::CliError;
use crate::home::Home;
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet init\n  placet init --home /srv/placet --address 127.0.0.1:8080")]
pub(crate) struct Args {
    /// Where the control plane will listen
    #[arg(long, default_value = "127.0.0.1:7070", value_name = "ADDRESS")]
    address: SocketAddr,
}

#[derive(Debug, Serialize)]
struct Made {
    home: PathBuf,
    admin_token: PathBuf,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let dir = match &who.home {
        Some(dir) => dir.clone(),
        None => std::env::current_dir()?.join(".placet"),
    };
    let home = Home::create(&dir, args.address)?;
    let admin_token = first_identity(&home).await?;
    out.answer(&Made { home: dir, admin_token }, |made| {
        format!(
            "{} {}\n  rules    {}\n  you are  admin (token in {})",
            styled(BOLD, "set up"),
            made.home.display(),
            made.home.join("policy").display(),
            made.admin_token.display()
        )
    });
    out.next("`placet serve`, and beside it `placet project new NAME` and `placet identity add ada --role reviewer`");
    Ok(())
}

/// The first administrator also operates and audits, but does not review: nobody approves what they set up alone.
pub(crate) async fn first_identity(home: &Home) -> Result<PathBuf, CliError> {
    let store = open_store(home).await?;
    let roles = [Role::Admin, Role::Operator, Role::Auditor].into_iter().collect();
    let (_, token) = bootstrap(&store, "admin", roles).await.map_err(|no| CliError::failed(no.to_string()))?;
    home.keep_token("admin", &token)
}
