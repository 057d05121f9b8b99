//! The control plane for one command: the one that is running, or one of our own for as long as the command takes.
//!
//! Teams that use worktrees alone need no server in the background. What runs here is the same control plane with the
//! same routes, roles and ledger, on a free loopback port; only its clockwork stands still, which worktrees do not need.
//! Commands that come at the same time take turns.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use placet_control::{App, Rules, Serving, serve_briefly};
use placet_store::{Holder, Store, StoreError};
use placet_wire::Client;

use crate::command::serve::{cannot_open, store_config};
use crate::context::Who;
use crate::error::CliError;
use crate::home::Home;

/// How long others may keep the store before it is said that they do.
const LONGEST_TURN: Duration = Duration::from_secs(60);
/// A turn takes some tens of milliseconds.
const BETWEEN_TRIES: Duration = Duration::from_millis(15);
/// On the machine itself a listener answers at once.
const CONNECT: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) client: Client,
    own: Option<Serving>,
}

impl Desk {
    pub(crate) async fn open(who: &Who) -> Result<Self, CliError> {
        if who.server.is_some() || who.token.is_some() {
            return Ok(Self { client: who.client()?, own: None });
        }
        let home = who.home()?;
        let started = Instant::now();
        loop {
            match Store::open(store_config(&home)?).await {
                Ok(store) => return Self::of_our_own(store, &home, who).await,
                // A control plane keeps its store open and says where it answers. The settings only say where it would: somebody else
                // may listen there, and must not be given a token.
                Err(StoreError::InUse { holder: Holder { at: Some(address), .. }, .. })
                    if TcpStream::connect_timeout(&address, CONNECT).is_ok() =>
                {
                    let client = Client::new(format!("http://{address}"), home.token(&who.acting_as)?);
                    return Ok(Self { client: client.proving(home.verifier()?), own: None });
                }
                Err(StoreError::InUse { .. }) if started.elapsed() < LONGEST_TURN => {
                    tokio::time::sleep(BETWEEN_TRIES).await;
                }
                Err(error @ StoreError::InUse { .. }) => {
                    let hint = "a control plane that runs since before an update is started again";
                    return Err(cannot_open(&error).hint(hint));
                }
                Err(error) => return Err(cannot_open(&error)),
            }
        }
    }

    async fn of_our_own(store: Store, home: &Home, who: &Who) -> Result<Self, CliError> {
        // Without the home's rules, which take longer to load than most commands here take: no action is judged here.
        let app = App::new(store, Rules::none(), home.signer()?, home.settings()?);
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        let serving = serve_briefly(app, address).await.map_err(|error| CliError::failed(error.to_string()))?;
        let token = home.token(&who.acting_as)?;
        Ok(Self { client: Client::new(serving.url(), token), own: Some(serving) })
    }

    /// Lets the next one have its turn.
    pub(crate) async fn close(self) {
        if let Some(own) = self.own {
            own.stop().await;
        }
    }
}
