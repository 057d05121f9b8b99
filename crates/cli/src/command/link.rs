//! `placet link`: a link that lets a person in once, by a browser.

use placet_wire::api::{LinkOnce, NewLink};
use placet_wire::endpoint::{CreateSignInLink, ShowCaller};

use super::identity;
use crate::context::Who;
use crate::error::CliError;
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet --as ada link\n  placet link --to ada")]
pub(crate) struct Args {
    /// Whom it lets in, by name or id (default: yourself)
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    let id = match args.to {
        Some(named) => identity::find(&client, &named).await?,
        None => client.get(ShowCaller {}).await?.id,
    };
    let made: LinkOnce = client.post(CreateSignInLink { identity: id }, &NewLink::default()).await?;
    let link = format!("{}{}", who.seat(&client)?, made.path);
    let view = serde_json::json!({ "identity": made.identity, "link": link, "expires_at": made.expires_at });
    out.answer(&view, |_| {
        format!("{}\n  lets {} in once, until {}", styled(BOLD, &link), made.identity.name, made.expires_at)
    });
    Ok(())
}
