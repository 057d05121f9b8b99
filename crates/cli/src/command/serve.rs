//! `placet serve`: the control plane, until it is told to stop.

use std::net::SocketAddr;

use placet_control::{App, Serving, serve_with};
use placet_store::{Config, Store, StoreError};
use tokio::signal::unix::{SignalKind, signal};

use crate::context::Who;
use crate::error::{CliError, Code, chain};
use crate::home::Home;
use crate::journal;
use crate::open_files;
use crate::out::Out;
use crate::progress::WaitLine;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet serve\n  placet serve --address 127.0.0.1:0")]
pub(crate) struct Args {
    /// Another address than the one in the settings; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    address: Option<SocketAddr>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let home = who.home()?;
    journal::start(&home.logs())?;
    open_files::raise();
    let address = args.address.unwrap_or(home.config()?.address);
    needs_loopback(address)?;
    let mut serving = start(&home, address, out).await?;
    out.answer(&serde_json::json!({ "serving": serving.url() }), |_| format!("serving {}", serving.url()));
    tokio::select! {
        () = serving.ended() => return Err(CliError::failed("the server ended by itself; the log says why")),
        () = told_to_stop() => {}
    }
    out.note("stopping");
    serving.stop().await;
    Ok(())
}

/// The server refuses other addresses too; here it is a wrong option, and what to do about it can be said.
fn needs_loopback(address: SocketAddr) -> Result<(), CliError> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    let message = format!("{address} is not a loopback address; without TLS the API is served on loopback only");
    Err(CliError::usage(message)
        .hint("use 127.0.0.1, and put a proxy that speaks TLS in front (docs/pages.md, From elsewhere)"))
}

/// Opens the store and serves the API with the pages.
pub(crate) async fn start(home: &Home, address: SocketAddr, out: &Out) -> Result<Serving, CliError> {
    let _wait = WaitLine::start(out, "opening the store");
    let listing = home.catalogue()?;
    let kits = listing.kits(&home.catalogue_dir())?;
    let rules = home.rules()?.planning_with(listing.agents, listing.templates).equipped_with(kits);
    let store = open_store(home).await?;
    let app = App::new(store, rules, home.signer()?, home.settings()?);
    let pages = placet_web::mount(&app);
    serve_with(app, address, pages).await.map_err(|error| cannot_serve(&error))
}

fn cannot_serve(error: &(dyn std::error::Error + 'static)) -> CliError {
    let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    if source.is_some_and(|source| source.kind() == std::io::ErrorKind::AddrInUse) {
        let message = format!("{error}; another program, or the control plane of another home, listens there");
        return CliError::new(Code::Conflict, message).hint(
            "take a free port with `placet serve --address 127.0.0.1:0`; other commands of this home find it by themselves. To keep \
             another one, set `address` in placet.toml",
        );
    }
    CliError::failed(error.to_string())
}

pub(crate) async fn open_store(home: &Home) -> Result<Store, CliError> {
    Store::open(store_config(home)?).await.map_err(|error| cannot_open(&error))
}

pub(crate) fn store_config(home: &Home) -> Result<Config, CliError> {
    let mut config = Config::new(home.data(), home.ledger_key()?);
    config.evidence_key = home.evidence_key()?.map(placet_store::EvidenceKey::new);
    Ok(config)
}

pub(crate) fn cannot_open(error: &StoreError) -> CliError {
    let message = chain(error);
    if matches!(error, StoreError::Integrity(_)) {
        return CliError::new(Code::Integrity, message);
    }
    if let StoreError::InUse { holder, .. } = error {
        let conflict = CliError::new(Code::Conflict, message);
        return match holder.at {
            Some(_) => conflict.hint("it is the control plane of this home already: use it, or end that process first"),
            None => conflict,
        };
    }
    CliError::failed(message)
}

/// Ctrl-C or a polite request of the system. It is listened for from this call on: what comes before somebody waits is not lost, and does
/// not end the process before it could tidy up.
pub(crate) fn told_to_stop() -> impl Future<Output = ()> + Send {
    let listened = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        let [Ok(mut interrupt), Ok(mut terminate)] = listened else { return };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
