//! WAY OUT: what the cage of an action reaches, and nothing else: the gateway's proxy behind a door.
//!
//! Its rules are the openings that were sealed and approved with the action, and the credentials of the team that it uses: read here,
//! put in here, and never in the cage. Without openings there is no door, and so no network at all. Every request is written down here, outside of the cage; what cannot be written down is not let out. It decides
//! nothing: what was refused is a wish, which goes to the control plane.

use std::io;
use std::net::TcpListener as Door;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use placet_domain::evidence::Traffic;
use placet_domain::proposal::ActionSpec;
use placet_egress::tls::TlsError;
use placet_egress::{
    Decision, Egress, EgressRecord, Established, FOLDER, Limits, Live, NotKept, NotPutIn, Outfit, Rules, Sink, Team,
    Wish,
};
use placet_sandbox::Request;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};

/// Where the proxy is inside of the cage: the usual port of one.
pub(crate) const PORT: u16 = 3128;
/// Requests of one action that are let out. Beyond, the list would be longer than anybody reads, so nothing more goes.
const MOST_LET_OUT: u64 = 10_000;
/// Refused requests that are listed; the others are counted.
const MOST_REFUSED_LISTED: u64 = 1_000;
/// The same of what was allowed and led to no connection: tunnels in which requests have records of their own, names without an
/// address. Nothing else bounds them.
const MOST_IDLE_LISTED: u64 = MOST_LET_OUT;
/// What a program left open ends with it; so long it may take until that is written down.
const SETTLES: Duration = Duration::from_secs(2);

/// The way out of one cage, before it is opened. Clones are the same way.
#[derive(Clone)]
pub(crate) struct WayOut {
    /// What was sealed.
    rules: Arc<Rules>,
    egress: Arc<Egress>,
    outfit: Arc<Outfit>,
    /// Where the files of the outfit are on this machine; gone with the last of the clones.
    files: Option<Arc<TempDir>>,
    log: Arc<Log>,
}

fn written(outfit: &Outfit) -> io::Result<TempDir> {
    let files = tempfile::Builder::new().prefix("placet-egress-").tempdir()?;
    outfit.write_to(files.path())?;
    Ok(files)
}

/// Why an action that needs one has none, and is not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotOpened {
    #[error(transparent)]
    Credential(#[from] NotPutIn),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("its files cannot be written")]
    Files(#[from] io::Error),
}

/// What of it was refused and could be allowed, as it happens.
pub(crate) type Wishes = mpsc::UnboundedReceiver<Wish>;

impl WayOut {
    /// For an action that was sealed with openings; none for one without. Reads the credentials that it uses, and no others.
    pub(crate) async fn of(
        spec: &ActionSpec,
        team: &Team,
        limits: Limits,
    ) -> Result<Option<(Self, Wishes)>, NotOpened> {
        if spec.network.is_empty() {
            return Ok(None);
        }
        // As many wishes as the gateway tells of one way out: bounded.
        let (tell, wishes) = mpsc::unbounded_channel();
        let log = Arc::new(Log { told: Mutex::default(), wishes: tell });
        let rules = Rules::for_action(spec);
        let egress =
            Egress::new(Live::new(rules.clone()), Arc::<Log>::clone(&log)).for_run(spec.run).with_limits(limits);
        let egress = egress.with_credentials(team.open_for(spec).await?);
        // An action whose rules look into no TLS needs nobody's certificates.
        let egress = if rules.looks_inside() { egress.opening_tls(team.roots()?)? } else { egress };
        let outfit = egress.outfit(PORT);
        let files = (!outfit.files().is_empty()).then(|| written(&outfit)).transpose()?;
        let (rules, outfit, files) = (Arc::new(rules), Arc::new(outfit), files.map(Arc::new));
        Ok(Some((Self { rules, egress: Arc::new(egress), outfit, files, log }, wishes)))
    }

    /// A request for a cage that has it: a door, and the variables by which programs find it.
    pub(crate) fn asked_for(&self, request: Request) -> Request {
        let variables = self.outfit.variables().iter();
        let request = variables.fold(request, |request, (name, value)| request.env(name, value)).door(PORT);
        match &self.files {
            None => request,
            Some(files) => request.read_only(files.path(), FOLDER),
        }
    }

    /// From here on also these are open, and nothing else beside what was sealed. What was open and is not any more is cut.
    pub(crate) fn open_also(&self, granted: Rules) {
        let mut rules = (*self.rules).clone();
        rules.allow.extend(granted.allow);
        self.egress.rules().replace(rules, Established::Cut);
    }

    /// Serves the door until it is closed. Must be called where a runtime is.
    pub(crate) fn serve(self, door: Door) -> io::Result<Served> {
        door.set_nonblocking(true)?;
        let (stop, stopped) = oneshot::channel();
        let handle = Handle::current();
        let _entered = handle.enter();
        let task = tokio::spawn(serve(TcpListener::from_std(door)?, Arc::clone(&self.egress), stopped));
        Ok(Served { way: self, stop, task })
    }

    fn told(&self) -> Told {
        let told = std::mem::take(&mut *self.log.told.lock().unwrap_or_else(PoisonError::into_inner));
        let carried = self.egress.meter().used();
        let traffic = Traffic { bytes_up: carried.bytes_up, bytes_down: carried.bytes_down, ..told.traffic };
        Told { traffic, ..told }
    }
}

/// A way out that is open.
pub(crate) struct Served {
    way: WayOut,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Served {
    /// Closes the door and every connection through it, and tells what went through. Blocking.
    pub(crate) fn close(self) -> Told {
        // A task that is gone has closed everything already.
        let _ = self.stop.send(());
        let _ = Handle::current().block_on(self.task);
        self.way.told()
    }
}

/// Everything that was asked of a way out.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) traffic: Traffic,
    /// One record per line, as JSON.
    pub(crate) lines: Vec<u8>,
    let_out: u64,
    idle: u64,
}

#[cfg(test)]
impl Told {
    pub(crate) fn of(traffic: Traffic, lines: Vec<u8>) -> Self {
        Self { traffic, lines, let_out: 0, idle: 0 }
    }
}

struct Log {
    told: Mutex<Told>,
    wishes: mpsc::UnboundedSender<Wish>,
}

impl Sink for Log {
    fn before(&self, _record: &EgressRecord) -> Result<(), NotKept> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.let_out >= MOST_LET_OUT {
            return Err(NotKept);
        }
        told.let_out += 1;
        Ok(())
    }

    fn after(&self, record: &EgressRecord) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).add(record);
    }

    fn wish(&self, wish: &Wish) {
        // Nobody listens any more once the action is over.
        let _ = self.wishes.send(wish.clone());
    }
}

/// The number of "it cannot be recorded", with which nothing was let out.
const NOT_RECORDED: u16 = 60;

impl Told {
    fn add(&mut self, record: &EgressRecord) {
        let recorded = record.ended.as_ref().is_none_or(|why| why.number != NOT_RECORDED);
        match &record.decision {
            Decision::Allowed(_) if recorded => {
                self.traffic.requests += 1;
                // What was connected was announced, and not more often than it is listed.
                let is_idle = record.address.is_none();
                self.idle += u64::from(is_idle);
                self.list_if(!is_idle || self.idle <= MOST_IDLE_LISTED, record);
            }
            Decision::Allowed(_) | Decision::Refused(_) => {
                self.traffic.refused += 1;
                self.list_if(self.traffic.refused <= MOST_REFUSED_LISTED, record);
            }
        }
    }

    fn list_if(&mut self, has_room: bool, record: &EgressRecord) {
        if has_room {
            self.list(record);
        } else {
            self.traffic.unlisted += 1;
        }
    }

    fn list(&mut self, record: &EgressRecord) {
        serde_json::to_writer(&mut self.lines, record).expect("a record is plain JSON, and memory takes it");
        self.lines.push(b'\n');
    }
}

async fn serve(door: TcpListener, egress: Arc<Egress>, mut stopped: oneshot::Receiver<()>) {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            accepted = placet_egress::accept(&door, &egress) => drop(open.spawn(accepted.serve())),
            Some(_) = open.join_next(), if !open.is_empty() => {}
        }
    }
    drop(door);
    let settled = async { while open.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(SETTLES, settled).await;
    open.shutdown().await;
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;

    fn spec(openings: &[&str]) -> ActionSpec {
        let (id, digest) = ("0".repeat(32), placet_domain::digest::Digest::of(b""));
        let spec = serde_json::json!({
            "v": 1, "run": format!("run_{id}"), "agent": format!("idn_{id}"), "scope": digest, "tool": "sh",
            "tool_version": digest, "kind": "execute_code", "argv": ["/bin/true"], "environment": {}, "files": [],
            "outputs": [], "network": openings, "profile": "default", "limits": {},
        });
        serde_json::from_value(spec).unwrap()
    }

    async fn open(openings: &[&str]) -> (WayOut, Served, SocketAddr, Wishes) {
        let (way, wishes) = WayOut::of(&spec(openings), &Team::default(), Limits::default()).await.unwrap().unwrap();
        let door = Door::bind("127.0.0.1:0").unwrap();
        let at = door.local_addr().unwrap();
        (way.clone(), way.serve(door).unwrap(), at, wishes)
    }

    async fn server() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut asked = [0; 4096];
                    while let Ok(1..) = stream.read(&mut asked).await {
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
                    }
                });
            }
        });
        at
    }

    async fn get(at: SocketAddr, url: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let asked = format!("GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(asked.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer.lines().next().unwrap_or_default().to_owned()
    }

    async fn closed(served: Served) -> Told {
        tokio::task::spawn_blocking(move || served.close()).await.unwrap()
    }

    #[tokio::test]
    async fn an_action_without_openings_has_no_way_out() {
        assert!(WayOut::of(&spec(&[]), &Team::default(), Limits::default()).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn r24_a_credential_that_is_not_here_leaves_no_way_out_at_all() {
        let mut spec = spec(&["https://a.test/"]);
        spec.credentials =
            serde_json::from_value(serde_json::json!([{"name": "team", "to": ["https://a.test/"]}])).unwrap();
        let Err(why) = WayOut::of(&spec, &Team::default(), Limits::default()).await else {
            panic!("a way out without its credential")
        };
        assert!(why.to_string().contains("no credential `team`"), "{why}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn c6_everything_that_was_asked_is_told_let_out_or_not() {
        let server = server().await;
        let (_, served, at, mut wishes) = open(&[&format!("GET http://{server}/a")]).await;
        let url = |path: &str| format!("http://{server}{path}");
        assert!(get(at, &url("/a/b"), &server.to_string()).await.contains("200"));
        assert!(get(at, &url("/other"), &server.to_string()).await.contains("403"));
        assert!(get(at, "http://evil.test/", "evil.test").await.contains("403"));
        assert_eq!(wishes.recv().await.unwrap().to.to_string(), server.to_string());
        assert_eq!(wishes.recv().await.unwrap().to.to_string(), "evil.test:80");
        let told = closed(served).await;
        assert_eq!((told.traffic.requests, told.traffic.refused, told.traffic.unlisted), (1, 2, 0));
        assert!(told.traffic.bytes_up > 0 && told.traffic.bytes_down > 0);
        let lines = String::from_utf8(told.lines).unwrap();
        assert_eq!(lines.lines().count(), 3);
        assert!(lines.contains("\"path\":\"/a/b\"") && lines.contains("evil.test:80"), "{lines}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_is_granted_counts_at_once_and_what_is_taken_back_is_cut() {
        let (first, second) = (server().await, server().await);
        let (way, served, at, _wishes) = open(&[&format!("http://{first}/")]).await;
        let url = format!("http://{second}/");
        assert!(get(at, &url, &second.to_string()).await.contains("403"));
        way.open_also(Rules::for_openings(&[url.parse().unwrap()]));
        assert!(get(at, &url, &second.to_string()).await.contains("200"));
        let mut held = TcpStream::connect(at).await.unwrap();
        held.write_all(format!("CONNECT {second} HTTP/1.1\r\nHost: {second}\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        held.read_exact(&mut answer).await.unwrap();
        way.open_also(Rules::default());
        assert!(get(at, &url, &second.to_string()).await.contains("403"));
        assert!(
            get(at, &format!("http://{first}/"), &first.to_string()).await.contains("200"),
            "what was sealed stays"
        );
        drop(held);
        closed(served).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn once_it_is_closed_neither_the_door_nor_a_held_connection_leads_anywhere() {
        let server = server().await;
        let (_, served, at, _wishes) = open(&[&format!("http://{server}/")]).await;
        let mut held = TcpStream::connect(at).await.unwrap();
        held.write_all(format!("GET http://{server}/ HTTP/1.1\r\nHost: {server}\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        held.read_exact(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"));
        let told = closed(served).await;
        assert_eq!(told.traffic.requests, 1);
        assert!(TcpStream::connect(at).await.is_err(), "nobody listens");
        let asked = format!("GET http://{server}/late HTTP/1.1\r\nHost: {server}\r\n\r\n");
        let _ = held.write_all(asked.as_bytes()).await;
        let mut rest = Vec::new();
        let _ = held.read_to_end(&mut rest).await;
        assert!(!String::from_utf8_lossy(&rest).contains("HTTP/1.1 200"), "a held connection is over");
    }

    fn record(decision: &serde_json::Value) -> EgressRecord {
        serde_json::from_value(serde_json::json!({
            "run": null, "at": 0, "way": "connect", "to": "evil.test:80", "speaks": null, "method": "GET", "path": "/",
            "decision": decision, "ended": null, "address": null,
            "encrypted_hello": false, "status": null, "bytes_up": 0, "bytes_down": 0, "duration_ms": 0,
        }))
        .unwrap()
    }

    #[test]
    fn a_flood_is_counted_and_a_list_stays_short() {
        let mut told = Told::default();
        let refused = record(&serde_json::json!({"refused": {"number": 10, "text": "no rule"}}));
        for _ in 0..MOST_REFUSED_LISTED + 7 {
            told.add(&refused);
        }
        assert_eq!((told.traffic.refused, told.traffic.unlisted), (MOST_REFUSED_LISTED + 7, 7));
        assert_eq!(told.lines.iter().filter(|byte| **byte == b'\n').count() as u64, MOST_REFUSED_LISTED);
    }

    #[test]
    fn d9_tunnels_that_are_opened_and_not_used_do_not_fill_the_memory_and_hide_no_request() {
        let mut told = Told::default();
        let tunnel = record(&serde_json::json!({"allowed": "https a.test port 443 credential none"}));
        for _ in 0..MOST_IDLE_LISTED + 7 {
            told.add(&tunnel);
        }
        assert_eq!((told.traffic.requests, told.traffic.unlisted), (MOST_IDLE_LISTED + 7, 7));
        let listed = told.lines.len();
        told.add(&EgressRecord { address: Some("93.184.216.34:443".parse().unwrap()), ..tunnel });
        assert!(told.lines.len() > listed && told.traffic.unlisted == 7, "what was connected is always listed");
    }
}
