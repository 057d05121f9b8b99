//! `placet model`: the settings for language models, and a scripted model for trials, demonstrations and tests.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use placet_llm::model_script::{self, Script};
use placet_llm::upstream::UpstreamSettings;
use tokio::net::TcpListener;

use super::serve::told_to_stop;
use crate::context::Who;
use crate::error::CliError;
use crate::out::{Out, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Check `gateway.toml` of this home, and list what agents can call
    Check,
    /// Play a model from a file, in the wire formats of the well-known ones
    #[command(
        after_help = "A script is a list of turns, as TOML or as one JSON object a line; docs/gateway.md explains it.\n\nExample:\n  placet model script answers.toml --address 127.0.0.1:8080"
    )]
    Script {
        /// The answers
        file: PathBuf,
        /// Where it answers; port 0 takes a free one
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
        address: SocketAddr,
    },
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    match command {
        Command::Check => check(who, out),
        Command::Script { file, address } => script(&file, address, out).await,
    }
}

fn check(who: &Who, out: &Out) -> Result<(), CliError> {
    let none = || CliError::usage("this home has no `gateway.toml`, so agents call no models");
    let settings = who.home()?.gateway()?.ok_or_else(none)?;
    let row = |upstream: &UpstreamSettings| {
        let models: Vec<String> = upstream.models.iter().map(ToString::to_string).collect();
        let wires: Vec<String> = upstream.wire.iter().map(ToString::to_string).collect();
        vec![upstream.name.clone(), upstream.base_url.to_string(), wires.join(" "), models.join(" ")]
    };
    let rows: Vec<Vec<String>> = settings.upstreams.iter().map(row).collect();
    out.answer(&rows, |rows| table(rows));
    Ok(())
}

async fn script(file: &PathBuf, address: SocketAddr, out: &Out) -> Result<(), CliError> {
    let text = fs::read_to_string(file).map_err(|error| CliError::usage(format!("`{}`: {error}", file.display())))?;
    let script = Script::read(&text).map_err(|bad| CliError::usage(format!("`{}`: {bad}", file.display())))?;
    // It checks no keys: whoever reaches it is answered.
    if !address.ip().is_loopback() {
        return Err(CliError::usage(format!("{address} is not a loopback address")).hint("use 127.0.0.1"));
    }
    let cannot = |error: std::io::Error| CliError::failed(format!("the address {address} cannot be used: {error}"));
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let url = format!("http://{}", listener.local_addr().map_err(cannot)?);
    out.answer(&serde_json::json!({ "serving": url }), |_| format!("serving {url}"));
    model_script::serve(script, listener, told_to_stop()).await;
    Ok(())
}
