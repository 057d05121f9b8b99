//! Gateway in front of a scripted upstream, both in this process.

use std::io;
use std::sync::Arc;

use placet_domain::budget::Ceiling;
use placet_domain::id::RunId;
use placet_llm::config::Settings;
use placet_llm::key::{CallScope, VirtualKey};
use placet_llm::memory::{Keyring, Wallet};
use placet_llm::model_script::{Running, Script, start};
use placet_llm::models::Models;
use placet_llm::purse::Allotment;
use placet_llm::{Gateway, serve};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::caller::Caller;

const KEY: &str = "vk-measured";
/// Answers of the scripted upstream.
pub(super) const SCRIPT: &str = "[[turn]]\nwhen = 'stream slowly'\ntext = 'a text that comes in a few pieces, one by one, very slowly'\n\
    piece_delay_ms = 30_000\n[[turn]]\nwhen = 'answer'\ntext = 'an answer of one sentence'\n";

/// The scripted upstream, and a gateway that forwards to it. Dropping it stops both.
pub(super) struct LocalGateway {
    upstream: Running,
    gateway: String,
    serving: AbortHandle,
    request_bytes: usize,
}

impl Drop for LocalGateway {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl LocalGateway {
    pub(super) async fn start(request_bytes: usize) -> io::Result<Self> {
        let upstream = start(Script::read(SCRIPT).map_err(io::Error::other)?).await?;
        let text = format!(
            "[[upstream]]\nname = 'script'\nwire = ['chat']\nbase_url = '{}'\nmodels = ['m']\n\
             [limits]\nconnections = 10_000\n[[price]]\nmodel = 'm'\ninput = 1\noutput = 1\n",
            upstream.url()
        );
        let run = RunId::from_bytes([1; 16]);
        let purse = Arc::new(Wallet::default().with(run, Allotment::new(run, Ceiling::default())));
        let keys = Keyring::default().with(&VirtualKey::new(KEY), CallScope::new(run, Models::all()));
        let settings = Settings::read(&text).map_err(io::Error::other)?;
        let gateway = Gateway::open(settings, keys, purse).await.map_err(io::Error::other)?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = format!("http://{}", listener.local_addr()?);
        let serving = tokio::spawn(serve(Arc::new(gateway), listener, std::future::pending())).abort_handle();
        Ok(Self { upstream, gateway: address, serving, request_bytes })
    }

    /// Makes a client of the upstream.
    pub(super) fn direct(&self) -> Caller {
        Caller::new(&self.upstream.url(), KEY, self.request_bytes)
    }

    /// Makes a client of the gateway.
    pub(super) fn through(&self) -> Caller {
        Caller::new(&self.gateway, KEY, self.request_bytes)
    }
}
