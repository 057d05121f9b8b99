//! The demo's world: a home, two child processes, and clients for everybody in the story.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use placet_domain::approval::{Asking, Terms};
use placet_domain::id::IdentityId;
use placet_domain::identity::Role;
use placet_domain::permit::PermitVerifier;
use placet_wire::api::{NewIdentity, NewProject, NewScope, ProjectView, TokenOnce};
use placet_wire::endpoint::{CreateIdentity, CreateProject, LockScope};
use placet_wire::{Client, Token};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::command::init::first_identity;
use crate::error::CliError;
use crate::home::Home;
use crate::out::Out;
use crate::progress::WaitLine;

/// What the demo's agent may do: read, count, write one report, reach one network.
const SCOPE: &str = r#"
allow = ["report.txt"]
targets = ["10.0.0.0/24"]
tools = ["sha256sum", "sh", "nmap"]
"#;

pub(crate) struct World {
    dir: Place,
    home: Home,
    server: String,
    started_in: Duration,
    control: Child,
    worker: Option<Child>,
    pub(super) project: ProjectView,
    pub(super) operator: Client,
    pub(crate) reviewer: Client,
    pub(crate) agent: Client,
    pub(super) agent_id: IdentityId,
}

/// Lets the system choose the port: a temporary world is not looked up later, so the port need not be known.
const ANY_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// First port to try, as in `placet init`, and the number of ports to try: another Placet may already use the first ones.
const FIRST_PORT: u16 = 7070;
const PORTS: u16 = 100;

/// Finds a free address for a kept home, which stores it: later commands look for the control plane there.
fn free_address() -> SocketAddr {
    let addresses = (FIRST_PORT..FIRST_PORT + PORTS).map(|port| SocketAddr::new(ANY_ADDRESS.ip(), port));
    let is_free = |address: &SocketAddr| TcpListener::bind(address).is_ok();
    addresses.into_iter().find(is_free).unwrap_or(SocketAddr::new(ANY_ADDRESS.ip(), FIRST_PORT))
}

/// Whoever measures asks more than any agent may.
fn measuring() -> Terms {
    Terms { asking: Asking::UNBOUNDED, ..Terms::default() }
}

impl World {
    /// A control plane, and a worker beside it.
    pub(super) async fn start(keep: Option<&Path>, out: &Out) -> Result<Self, CliError> {
        let _wait = WaitLine::start(out, "starting a control plane and a worker");
        let mut world = Self::set_up(keep, None, Terms::default()).await?;
        world.introduce("worker", Role::Worker).await?;
        world.worker = Some(start_worker(&world.home, &world.server, world.dir())?);
        Ok(world)
    }

    /// Only a control plane: the worker is played by somebody else.
    pub(crate) async fn start_control_only(out: &Out) -> Result<Self, CliError> {
        let _wait = WaitLine::start(out, "starting a control plane");
        Self::set_up(None, None, measuring()).await
    }

    /// Only a control plane, whose agents call models by these settings.
    pub(crate) async fn start_with_models(gateway: &str, out: &Out) -> Result<Self, CliError> {
        let _wait = WaitLine::start(out, "starting a control plane");
        Self::set_up(None, Some(gateway), measuring()).await
    }

    async fn set_up(keep: Option<&Path>, gateway: Option<&str>, terms: Terms) -> Result<Self, CliError> {
        let dir = Place::make(keep)?;
        let address = if keep.is_some() { free_address() } else { ANY_ADDRESS };
        let home = Home::create_with(&dir.path.join(".placet"), address, terms)?;
        first_identity(&home).await?;
        if let Some(gateway) = gateway {
            std::fs::write(home.dir().join("gateway.toml"), gateway)?;
        }
        let before = Instant::now();
        let (control, server) = start_control(&home).await?;
        let started_in = before.elapsed();
        let operator = Client::new(server.clone(), home.token("admin")?);
        let project: ProjectView = operator
            .post(CreateProject {}, &NewProject { name: "demo".into(), separation: Default::default() })
            .await?;
        let rules = toml::from_str(SCOPE).map_err(|error| CliError::failed(format!("the demo's scope: {error}")))?;
        let scope = NewScope { name: "demo".into(), rules };
        operator.post(LockScope { project: project.id }, &scope).await?;
        let (_, reviewer) = introduce(&home, &operator, "you", Role::Reviewer).await?;
        let (agent_id, agent) = introduce(&home, &operator, "scripted-agent", Role::Agent).await?;
        Ok(Self { dir, home, server, started_in, control, worker: None, project, operator, reviewer, agent, agent_id })
    }

    /// Makes somebody new in this world.
    pub(crate) async fn introduce(&self, name: &str, role: Role) -> Result<(IdentityId, Client), CliError> {
        introduce(&self.home, &self.operator, name, role).await
    }

    /// The key by which a worker of this world checks permits.
    pub(crate) fn verifier(&self) -> Result<PermitVerifier, CliError> {
        self.home.verifier()
    }

    /// Where a worker of this world makes workspaces.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.dir.path.join("scratch")
    }

    /// From starting the process to its word that it serves.
    pub(crate) const fn started_in(&self) -> Duration {
        self.started_in
    }

    /// How much memory the control plane occupies now.
    pub(crate) fn control_rss_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.control.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
    }

    /// The same, for whoever cannot do without it.
    pub(crate) fn control_rss(&self) -> std::io::Result<u64> {
        self.control_rss_bytes().ok_or_else(|| std::io::Error::other("the control plane is gone"))
    }

    /// How much processor time the control plane has used, in the kernel's ticks of a hundredth of a second.
    pub(crate) fn control_cpu_ms(&self) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.control.id()?)).ok()?;
        // Behind the name, which may contain anything: state is field 3, user and system time are 14 and 15.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field - 3).and_then(|ticks| ticks.parse::<u64>().ok());
        Some((ticks(14)? + ticks(15)?) * 10)
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir.path
    }

    /// Ends the processes and removes everything, unless it is kept.
    pub(crate) async fn stop(mut self) -> Option<PathBuf> {
        for child in self.worker.iter_mut().chain([&mut self.control]) {
            end(child).await;
        }
        self.dir.kept.then(|| self.home.dir().to_owned())
    }
}

/// Where everything lies. Removed when it goes out of sight, however that comes about, unless it is to be kept.
struct Place {
    path: PathBuf,
    kept: bool,
}

impl Place {
    fn make(keep: Option<&Path>) -> Result<Self, CliError> {
        let path = match keep {
            Some(path) => path.to_owned(),
            None => std::env::temp_dir().join(format!("placet-demo-{}", uuid::Uuid::now_v7().simple())),
        };
        std::fs::create_dir(&path).map_err(|error| CliError::failed(format!("`{}`: {error}", path.display())))?;
        Ok(Self { path: path.canonicalize()?, kept: keep.is_some() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn placet(home: &Home) -> Result<Command, CliError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--home").arg(home.dir()).stdin(Stdio::null()).kill_on_drop(true);
    for name in ["PLACET_HOME", "PLACET_SERVER", "PLACET_AS", "PLACET_TOKEN"] {
        command.env_remove(name);
    }
    Ok(command)
}

/// Starts `placet serve` and waits until it says where it serves.
async fn start_control(home: &Home) -> Result<(Child, String), CliError> {
    serving(placet(home)?.args(["--json", "serve"])).await
}

/// Starts something that serves, and waits until it says where.
pub(crate) async fn serving(command: &mut Command) -> Result<(Child, String), CliError> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().ok_or_else(|| CliError::failed("what should serve has no output"))?;
    let mut lines = BufReader::new(stdout).lines();
    let mut said = String::new();
    while let Some(line) = lines.next_line().await? {
        said.push_str(&line);
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(&said) {
            let server = value["serving"].as_str().unwrap_or_default().to_owned();
            return Ok((child, server));
        }
    }
    Err(CliError::failed("what should serve did not start; its message is above"))
}

fn start_worker(home: &Home, server: &str, dir: &Path) -> Result<Child, CliError> {
    let mut command = placet(home)?;
    command.args(["--json", "--server", server, "--as", "worker", "work", "--scratch"]).arg(dir.join("scratch"));
    Ok(command.env("PLACET_LOG", "warn").stdout(Stdio::null()).spawn()?)
}

/// Makes an identity, keeps its token, and returns a client that acts as it.
async fn introduce(home: &Home, operator: &Client, name: &str, role: Role) -> Result<(IdentityId, Client), CliError> {
    let new = NewIdentity { name: name.into(), roles: [role].into(), projects: None, parent: None };
    let made: TokenOnce = operator.post(CreateIdentity {}, &new).await?;
    let token = Token::new(made.token);
    home.keep_token(name, &token)?;
    Ok((made.identity.id, operator.with_token(token)))
}

/// Asks politely, then insists.
async fn end(child: &mut Child) {
    if let Some(pid) = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed())) {
        let _ = kill_process(pid, Signal::TERM);
    }
    if tokio::time::timeout(Duration::from_secs(5), child.wait()).await.is_err() {
        let _ = child.kill().await;
    }
}
