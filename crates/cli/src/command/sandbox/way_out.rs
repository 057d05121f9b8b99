//! The way out of a cage by hand: a proxy behind a door, for the hosts that were named and nobody else.
//!
//! It is made before the cage, which is given an outfit for it: variables that libraries look for, and certificates. What was
//! refused is told when the command has ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use placet_dial::Roots;
use placet_egress::{
    Decision, Egress, EgressRecord, FOLDER, Live, NotKept, Outfit, Rules, Settings, Sink, Wish, accept,
};
use placet_sandbox::{Request, Running};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::error::{CliError, chain};
use crate::out::{DIM, Out, styled};

/// Where the proxy is inside of the cage: the usual port of one.
pub(super) const PORT: u16 = 3128;

/// A way out, before its door is opened and after.
pub(super) struct WayOut {
    egress: Arc<Egress>,
    seen: Arc<Seen>,
    outfit: Outfit,
    /// Where the files of the outfit are on this machine; gone with this.
    files: tempfile::TempDir,
    count: Arc<watch::Sender<usize>>,
    /// Connections that are open.
    open: watch::Receiver<usize>,
}

/// What explaining a cage shows of its outfit. No credential is read for it.
pub(super) fn shown(settings: &Settings) -> Result<Vec<(String, String)>, CliError> {
    let rules = Live::new(Rules { allow: settings.allow.clone() });
    let egress = Egress::new(rules, Arc::<Seen>::default()).opening_tls(Roots::default());
    let outfit = egress.map_err(|error| CliError::failed(chain(&error)))?.outfit(PORT);
    let names = settings.credentials.iter().flat_map(|credential| &credential.variables);
    let placeholders = names.map(|name| (name.to_string(), "(a placeholder)".to_owned()));
    Ok(outfit.variables().iter().cloned().chain(placeholders).collect())
}

/// What a command left open ends with it; so long it may take until that is written down.
const SETTLES: Duration = Duration::from_secs(2);

/// Everything that was asked.
#[derive(Default)]
struct Seen(Mutex<Vec<EgressRecord>>);

impl Sink for Seen {
    fn before(&self, _record: &EgressRecord) -> Result<(), NotKept> {
        Ok(())
    }

    fn after(&self, record: &EgressRecord) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
    }

    // What could be allowed is told with what was refused.
    fn wish(&self, _wish: &Wish) {}
}

impl WayOut {
    /// Reads the credentials and makes what the cage is given.
    pub(super) async fn prepare(settings: Settings) -> Result<Self, CliError> {
        let seen = Arc::<Seen>::default();
        let opened = settings.open(Arc::<Seen>::clone(&seen) as Arc<dyn Sink>).await;
        let egress = opened.map_err(|error| CliError::usage(chain(&error)))?;
        let outfit = egress.outfit(PORT);
        let files = tempfile::Builder::new().prefix("placet-egress-").tempdir()?;
        outfit.write_to(files.path())?;
        let (count, open) = watch::channel(0);
        Ok(Self { egress: Arc::new(egress), seen, outfit, files, count: Arc::new(count), open })
    }

    /// Adds the outfit and the door to what is asked of the cage.
    pub(super) fn fit(&self, request: Request) -> Request {
        let variables = self.outfit.variables().iter().cloned();
        let request = variables.fold(request, |request, (name, value)| request.env(name, value)).door(PORT);
        if self.outfit.files().is_empty() { request } else { request.read_only(self.files.path(), FOLDER) }
    }

    /// Serves the door until the process ends. Must be called in the runtime.
    pub(super) fn open(&self, running: &mut Running) -> Result<(), CliError> {
        if let Some(listener) = running.take_door(PORT) {
            listener.set_nonblocking(true)?;
            tokio::spawn(serve(TcpListener::from_std(listener)?, Arc::clone(&self.egress), Arc::clone(&self.count)));
        }
        Ok(())
    }

    /// Everything that was asked, once the command has ended.
    pub(super) async fn requests(&mut self) -> Vec<EgressRecord> {
        let _ = tokio::time::timeout(SETTLES, self.open.wait_for(|open| *open == 0)).await;
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells what was refused, and what ended otherwise than by itself, each thing once.
    pub(super) async fn tell(&mut self, out: &Out) {
        let mut refused: BTreeMap<String, usize> = BTreeMap::new();
        for record in self.requests().await {
            let to = record.to.as_ref().map_or_else(|| "a request".to_owned(), ToString::to_string);
            let told = match (&record.decision, &record.ended) {
                (Decision::Refused(why), _) => format!("refused {to}: {} (E{})", why.text, why.number),
                (Decision::Allowed(_), Some(why)) => format!("ended {to}: {} (E{})", why.text, why.number),
                (Decision::Allowed(_), None) => continue,
            };
            *refused.entry(told).or_default() += 1;
        }
        for (line, count) in refused {
            let times = if count == 1 { String::new() } else { format!(", {count} times") };
            out.note(&styled(DIM, format!("{line}{times}")));
        }
    }
}

async fn serve(door: TcpListener, egress: Arc<Egress>, open: Arc<watch::Sender<usize>>) {
    loop {
        let (accepted, open) = (accept(&door, &egress).await, Arc::clone(&open));
        open.send_modify(|open| *open += 1);
        tokio::spawn(async move {
            accepted.serve().await;
            open.send_modify(|open| *open -= 1);
        });
    }
}
