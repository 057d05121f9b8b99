//! The project's home, `.placet/`: settings, rules, keys, tokens and data. Nothing in it is ever read from a worktree
//! that an agent can write.

mod notify;
mod outside;
mod own;
mod provider;
mod webhooks;

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use placet_control::{Collector, MetricsEvery, PublicUrl, Rules, Settings};
use placet_domain::approval::Terms;
use placet_domain::permit::{PermitSigner, PermitVerifier};
use placet_domain::policy::{DEFAULT_TOOLS, Policy, default_policy};
use placet_domain::proposal::Tools;
use placet_domain::retention::{Days, Retention};
use placet_egress::Team;
use placet_ledger::SigningKey;
use placet_sandbox::Profiles;
use placet_wire::Token;
use serde::{Deserialize, Serialize};

use crate::catalogue::Listing;
use crate::error::{CliError, Code};
use crate::open_files;
use crate::profiles::{cages, check_tools, profiles_in};
use notify::NotifySettings;
use provider::Oidc;
use webhooks::{WebhookIn, WebhookOut};

/// `placet.toml`. An unknown key refuses to start: a typo must not silently mean the default.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Where `placet serve` listens and every other command looks.
    pub(crate) address: SocketAddr,
    /// The name of this ledger: part of every signed head.
    pub(crate) ledger: String,
    /// Where people come, if that is not the address: what links in messages begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) public_url: Option<String>,
    #[serde(default)]
    pub(crate) terms: Terms,
    /// A file with 64 hex digits; with it, evidence is encrypted at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) evidence_key_file: Option<PathBuf>,
    /// The same for what a worker of this home saves of the runs it hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) snapshot_key_file: Option<PathBuf>,
    #[serde(default)]
    pub(crate) retention: RetentionSettings,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) webhook_out: Vec<WebhookOut>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) webhook_in: Vec<WebhookIn>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notify: Vec<NotifySettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) oidc: Option<Oidc>,
}

/// How long contents are kept after everything that names them is over. What is not said is kept as long as the ledger.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RetentionSettings {
    /// What was given to executions, and what they left.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_days: Option<Days>,
    /// What a person let out.
    #[serde(skip_serializing_if = "Option::is_none")]
    results_days: Option<Days>,
    /// Whether it is done every day; otherwise only by `placet evidence expire`.
    daily: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Home {
    dir: PathBuf,
}

/// Name of the directory of a home.
pub(crate) const NAME: &str = ".placet";

/// Where to begin to look. What is below the `.worktrees` of a repository was written by agents: a home that lies there
/// is none of ours, and its record would say whatever an agent likes.
fn outside_of_worktrees(here: &Path) -> &Path {
    let all = here.ancestors().filter(|dir| dir.file_name().is_some_and(|name| name == ".worktrees"));
    all.filter_map(Path::parent).filter(|root| root.join(".git").is_dir()).last().unwrap_or(here)
}

impl Home {
    /// The home to work with: the one named, or the nearest above the current directory.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, CliError> {
        let home = Self::locate(named)?;
        if named.is_none() {
            own::check_own(&home.dir)?;
        }
        Ok(home)
    }

    /// The same, without the check that a found home belongs to the caller: only for what trusts nothing in it.
    pub(crate) fn locate(named: Option<&Path>) -> Result<Self, CliError> {
        if let Some(dir) = named {
            return Self::at(dir);
        }
        let here = std::env::current_dir()?;
        let found = outside_of_worktrees(&here)
            .ancestors()
            .map(|dir| dir.join(NAME))
            .find(|dir| dir.join("placet.toml").is_file());
        let dir = found.ok_or_else(|| {
            let message = format!("there is no {NAME} here or in any directory above");
            CliError::new(Code::NotFound, message).hint("make one with `placet init`, or try `placet demo`")
        })?;
        Ok(Self { dir })
    }

    /// Refuses an existing home directory that belongs to another user or comes with a repository.
    pub(crate) fn check_own(dir: &Path) -> Result<(), CliError> {
        if dir.symlink_metadata().is_ok() { own::check_own(dir) } else { Ok(()) }
    }

    fn at(dir: &Path) -> Result<Self, CliError> {
        if dir.join("placet.toml").is_file() {
            return Ok(Self { dir: dir.to_owned() });
        }
        let message = format!("`{}` holds no placet.toml", dir.display());
        Err(CliError::new(Code::NotFound, message).hint("make one with `placet init --home DIR`"))
    }

    /// Makes a home with fresh keys and the shipped rules. Nothing that exists is touched.
    pub(crate) fn create(dir: &Path, address: SocketAddr) -> Result<Self, CliError> {
        Self::create_with(dir, address, Terms::default())
    }

    /// The same, with other terms than the usual ones.
    pub(crate) fn create_with(dir: &Path, address: SocketAddr, terms: Terms) -> Result<Self, CliError> {
        if dir.join("placet.toml").exists() {
            let message = format!("`{}` is set up already; nothing was changed", dir.display());
            return Err(CliError::new(Code::Conflict, message)
                .hint("use it with `placet serve`, or set up another with --home DIR"));
        }
        let home = Self { dir: dir.to_owned() };
        for folder in ["", "policy", "profiles", "catalog", "catalog/templates", "keys", "tokens", "data", "logs"] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir.join(folder))?;
        }
        // Keys and tokens lie here: none of it is ever part of a repository around it.
        write_new(&dir.join(".gitignore"), b"*\n", 0o644)?;
        home.write_rules()?;
        home.write_keys()?;
        let config = Config {
            address,
            ledger: format!("placet/{}", hex(&random::<6>())),
            public_url: None,
            terms,
            evidence_key_file: None,
            snapshot_key_file: None,
            retention: RetentionSettings::default(),
            webhook_out: Vec::new(),
            webhook_in: Vec::new(),
            notify: Vec::new(),
            oidc: None,
        };
        let text = toml_text(&config);
        write_new(&dir.join("placet.toml"), text.as_bytes(), 0o600)?;
        Ok(home)
    }

    fn write_rules(&self) -> Result<(), CliError> {
        for (name, text) in default_policy() {
            write_new(&self.dir.join("policy").join(name), text.as_bytes(), 0o644)?;
        }
        write_new(&self.dir.join("tools.toml"), DEFAULT_TOOLS.as_bytes(), 0o644)
    }

    fn write_keys(&self) -> Result<(), CliError> {
        for name in ["ledger", "permit"] {
            write_new(&self.dir.join("keys").join(format!("{name}.seed")), hex(&random::<32>()).as_bytes(), 0o600)?;
        }
        let verifier = self.signer()?.verifier();
        write_new(&self.dir.join("keys/permit.pub"), hex(&verifier.to_bytes()).as_bytes(), 0o644)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// The files of the runs that a worker on this machine hosts.
    pub(crate) fn runs(&self) -> PathBuf {
        self.dir.join("runs")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.dir.join("logs")
    }

    pub(crate) fn config(&self) -> Result<Config, CliError> {
        let path = self.dir.join("placet.toml");
        let text = read(&path)?;
        let refused = |error: String| CliError::usage(format!("`{}`: {error}", path.display()));
        toml::from_str(&text).map_err(|error| refused(error.to_string()))
    }

    pub(crate) fn settings(&self) -> Result<Settings, CliError> {
        let config = self.config()?;
        config.terms.asking.check().map_err(|senseless| CliError::usage(format!("`placet.toml`: {senseless}")))?;
        let (hooks, notify) = (webhooks::hooks(&self.dir, &config)?, notify::routes(&self.dir, &config)?);
        let (models, collector, metrics_every) = (self.gateway()?, collector()?, metrics_every()?);
        let RetentionSettings { evidence_days, results_days, daily: expires_daily } = config.retention;
        let retention = Retention { evidence_days, results_days };
        let provider = provider::provider(&self.dir, config.oidc.as_ref())?;
        let public_url = public_url(&config)?;
        let (terms, usual) = (config.terms, Settings::default());
        let settings =
            Settings { terms, hooks, notify, models, collector, metrics_every, retention, expires_daily, ..usual };
        let mut limits = settings.limits;
        limits.connections = limits.connections.min(open_files::for_connections());
        Ok(Settings { provider, public_url, limits, stop_socket: Some(self.stop_socket()), ..settings })
    }

    /// Socket through which the user of this machine stops everything without a token, while a control plane runs.
    pub(crate) fn stop_socket(&self) -> PathBuf {
        self.data().join("stop.sock")
    }

    /// Returns the address of this home's control plane: the one it announces while it runs on this machine, else the one in the settings.
    pub(crate) fn url(&self) -> Result<String, CliError> {
        let address = match placet_store::serving_at(&self.data()) {
            Some(address) => address,
            None => self.config()?.address,
        };
        Ok(format!("http://{address}"))
    }

    /// Where people come, if not to the address that is listened at.
    pub(crate) fn public_url(&self) -> Result<Option<PublicUrl>, CliError> {
        public_url(&self.config()?)
    }

    /// Which language models agents may call, if this home says anything about it.
    pub(crate) fn gateway(&self) -> Result<Option<placet_llm::config::Settings>, CliError> {
        let path = self.dir.join("gateway.toml");
        if !path.exists() {
            return Ok(None);
        }
        let read = placet_llm::config::Settings::read(&read(&path)?);
        read.map(Some).map_err(|problems| CliError::usage(format!("`{}`: {problems}", path.display())))
    }

    /// The policy and tools of this home, or all that is wrong with them.
    pub(crate) fn rules(&self) -> Result<Rules, CliError> {
        let tools = self.tools()?;
        let policy = Policy::load(&policy_files(&self.dir.join("policy"))?, &tools);
        let policy = policy.map_err(|problems| {
            CliError::usage(problems.to_string()).hint("`placet policy check` shows all problems")
        })?;
        Rules::new(policy, tools, cages(&self.profiles()?)?).map_err(|error| CliError::usage(error.to_string()))
    }

    /// Credentials that are put into requests of actions. Nothing in the file is a secret, and no secret is looked for here.
    pub(crate) fn team(&self) -> Result<Team, CliError> {
        let path = self.dir.join("credentials.toml");
        if path.exists() { team_at(&path) } else { Ok(Team::default()) }
    }

    /// The tools of this home, each with a profile that is there and meant for it.
    pub(crate) fn tools(&self) -> Result<Tools, CliError> {
        let path = self.dir.join("tools.toml");
        let tools = Tools::parse(&read(&path)?);
        let tools = tools.map_err(|error| CliError::usage(format!("`{}`: {error}", path.display())))?;
        let tools = tools.with_credentials(self.team()?.book()).map_err(|error| CliError::usage(error.to_string()))?;
        check_tools(&tools, &self.profiles()?, &self.profiles_dir())
            .map_err(|error| CliError { message: format!("`{}`: {}", path.display(), error.message), ..error })?;
        Ok(tools)
    }

    /// Where a team keeps profiles of its own.
    pub(crate) fn profiles_dir(&self) -> PathBuf {
        self.dir.join("profiles")
    }

    /// The profiles of this home, or all that is wrong with them.
    pub(crate) fn profiles(&self) -> Result<Profiles, CliError> {
        let profiles = profiles_in(&self.profiles_dir())?;
        self.needs_no_mount(&profiles)?;
        Ok(profiles)
    }

    /// Refuses profiles that show this home to a cage: it holds keys, tokens and the stop socket, to which a program can connect even
    /// through a read-only mount.
    fn needs_no_mount(&self, profiles: &Profiles) -> Result<(), CliError> {
        for profile in profiles.iter() {
            let mut shown = profile.mounts().iter().filter_map(placet_sandbox::Mount::host_path);
            if let Some(host) = shown.find(|host| self.overlaps(host)) {
                let message = format!(
                    "profile `{}` shows `{}` to its programs, and this home lies there",
                    profile.name(),
                    host.display()
                );
                return Err(
                    CliError::usage(message).hint("name the folder that they need, and none with the home in it")
                );
            }
        }
        Ok(())
    }

    /// True if the host path lies in this home or contains it.
    pub(crate) fn overlaps(&self, host: &Path) -> bool {
        let (home, host) = (real(&self.dir), real(host));
        home.starts_with(&host) || host.starts_with(&home)
    }

    /// Where a team keeps agents of its own; their templates lie in `templates` below it.
    pub(crate) fn catalogue_dir(&self) -> PathBuf {
        self.dir.join("catalog")
    }

    /// The agents and templates of this home, or all that is wrong with them.
    pub(crate) fn catalogue(&self) -> Result<Listing, CliError> {
        Listing::fitting(&self.catalogue_dir(), &self.profiles()?, &self.tools()?)
    }

    pub(crate) fn signer(&self) -> Result<PermitSigner, CliError> {
        Ok(PermitSigner::from_seed(&self.seed("permit.seed")?))
    }

    pub(crate) fn verifier(&self) -> Result<PermitVerifier, CliError> {
        read_verifier(&self.dir.join("keys/permit.pub"))
    }

    pub(crate) fn ledger_key(&self) -> Result<SigningKey, CliError> {
        let name = self.config()?.ledger;
        let bad = |error: placet_ledger::KeyError| {
            CliError::usage(format!("the ledger name `{name}` cannot be used: {error}"))
        };
        Ok(SigningKey::from_seed(name.parse().map_err(bad)?, &self.seed("ledger.seed")?))
    }

    fn seed(&self, name: &str) -> Result<[u8; 32], CliError> {
        read_secret_key(&self.dir.join("keys").join(name))
    }

    pub(crate) fn evidence_key(&self) -> Result<Option<[u8; 32]>, CliError> {
        self.config()?.evidence_key_file.map(|path| read_secret_key(&self.dir.join(path))).transpose()
    }

    pub(crate) fn snapshot_key(&self) -> Result<Option<[u8; 32]>, CliError> {
        self.config()?.snapshot_key_file.map(|path| read_secret_key(&self.dir.join(path))).transpose()
    }

    fn token_path(&self, name: &str) -> PathBuf {
        self.dir.join("tokens").join(format!("{name}.token"))
    }

    pub(crate) fn keep_token(&self, name: &str, token: &Token) -> Result<PathBuf, CliError> {
        let path = self.token_path(name);
        write_new(&path, token.reveal().as_bytes(), 0o600)?;
        Ok(path)
    }

    pub(crate) fn token(&self, name: &str) -> Result<Token, CliError> {
        let path = self.token_path(name);
        if !path.is_file() {
            let message = format!("no token of `{name}` is kept in `{}`", self.dir.join("tokens").display());
            let hint =
                format!("name somebody else with --as, or make one with `placet identity add {name} --role ROLE`");
            return Err(CliError::new(Code::NotFound, message).hint(hint));
        }
        Ok(Token::new(read_private(&path)?.trim()))
    }
}

/// Where traces and metrics go, by the variable that every program of OpenTelemetry knows.
fn collector() -> Result<Option<Collector>, CliError> {
    const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let endpoint = std::env::var(ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty());
    let read = |endpoint: String| endpoint.parse().map_err(|error| CliError::usage(format!("{ENDPOINT}: {error}")));
    endpoint.map(read).transpose()
}

/// How often metrics go there, by the variables that every program of OpenTelemetry knows.
fn metrics_every() -> Result<MetricsEvery, CliError> {
    const EXPORTER: &str = "OTEL_METRICS_EXPORTER";
    const INTERVAL: &str = "OTEL_METRIC_EXPORT_INTERVAL";
    let said = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    if said(EXPORTER).is_some_and(|exporter| exporter == "none") {
        return Ok(MetricsEvery::NEVER);
    }
    let Some(interval) = said(INTERVAL) else { return Ok(MetricsEvery::default()) };
    let every = interval.parse().ok().and_then(MetricsEvery::millis);
    let bad = || CliError::usage(format!("{INTERVAL}: `{interval}` is no number of milliseconds from 1 to 86400000"));
    every.ok_or_else(bad)
}

/// All `.cedar` files of a directory, by name.
pub(crate) fn policy_files(dir: &Path) -> Result<Vec<(String, String)>, CliError> {
    let listing = fs::read_dir(dir).map_err(|error| CliError::failed(format!("`{}`: {error}", dir.display())))?;
    let mut paths: Vec<PathBuf> = listing.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cedar"));
    paths.sort();
    if paths.is_empty() {
        return Err(CliError::usage(format!(
            "`{}` holds no .cedar file; without rules everything is refused",
            dir.display()
        ))
        .hint("restore the rules, or copy those of a new home made with `placet init --home DIR`"));
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(|path| Ok((name(path), read(path)?))).collect()
}

pub(crate) fn read_verifier(path: &Path) -> Result<PermitVerifier, CliError> {
    let bytes = unhex(read(path)?.trim());
    bytes
        .and_then(|bytes| PermitVerifier::from_bytes(&bytes))
        .ok_or_else(|| CliError::usage(format!("`{}` is no permit key", path.display())))
}

pub(crate) fn read(path: &Path) -> Result<String, CliError> {
    fs::read_to_string(path).map_err(|error| CliError::new(Code::NotFound, format!("`{}`: {error}", path.display())))
}

/// Who writes this file chooses which programs are asked for secrets, and whom these go to: nobody but its owner may.
pub(crate) fn team_at(path: &Path) -> Result<Team, CliError> {
    let text = read(path)?;
    let found = fs::metadata(path)?;
    let is_ours = [0, rustix::process::geteuid().as_raw()].contains(&found.uid());
    if !is_ours || found.mode() & 0o022 != 0 {
        let message = format!("`{}` is somebody else's, or others may write to it", path.display());
        return Err(CliError::new(Code::Refused, message).hint(format!("chmod 600 {}", path.display())));
    }
    Team::read(&text).map_err(|error| CliError::usage(format!("`{}`: {error}", path.display())))
}

/// Resolves links. A path that does not exist is returned unchanged.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Reads a secret, refusing one that others could have read.
fn read_private(path: &Path) -> Result<String, CliError> {
    let text = read(path)?;
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        let message = format!("`{}` can be read by others (mode {:o})", path.display(), mode & 0o777);
        return Err(CliError::new(Code::Refused, message).hint(format!("chmod 600 {}", path.display())));
    }
    Ok(text)
}

pub(crate) fn read_secret_key(path: &Path) -> Result<[u8; 32], CliError> {
    if !path.is_file() {
        let message = format!("the key `{}` is gone", path.display());
        return Err(CliError::new(Code::NotFound, message).hint("restore it from a backup; it cannot be made again"));
    }
    let bad = || {
        CliError::usage(format!("`{}` does not hold 64 hex digits", path.display())).hint("restore it from a backup")
    };
    unhex(read_private(path)?.trim()).ok_or_else(bad)
}

/// Writes a file that must not exist yet, with exactly these permissions from the first moment.
fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::failed(format!("`{}`: {error}", path.display()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)
}

fn toml_text(config: &Config) -> String {
    format!(
        "# Settings of this Placet. Unknown keys refuse to start.\n\
         address = \"{}\"\n\
         # The name of the ledger, part of every signed head. Never change it.\n\
         ledger = \"{}\"\n\n\
         # How long things may wait, in milliseconds. Silence is never consent.\n\
         [terms]\ndecide_within_ms = {}\ndispatch_within_ms = {}\nlease_ms = {}\n\
         # how long a host may be opened while a run is under way; 0 where nobody may\nlongest_grant_ms = {}\n\
         # how long a standing order may hold; 0 where nobody may give one\nlongest_order_ms = {}\n\n\
         # How much is asked of people; 0 where there is no bound. Questions of one agent and its runs that may wait undecided, and\n\
         # that may be asked within a while; actions of it that may wait for people or workers; decisions of one person on pages within a while, before they are asked to look twice.\n\
         [terms.asking]\nmost_undecided = {}\nmost_asked = {}\nasked_within_ms = {}\nmost_waiting = {}\nmost_decided = {}\ndecided_within_ms = {}\n",
        config.address,
        config.ledger,
        config.terms.decide_within_ms,
        config.terms.dispatch_within_ms,
        config.terms.lease_ms,
        config.terms.longest_grant_ms,
        config.terms.longest_order_ms,
        config.terms.asking.most_undecided,
        config.terms.asking.most_asked,
        config.terms.asking.asked_within_ms,
        config.terms.asking.most_waiting,
        config.terms.asking.most_decided,
        config.terms.asking.decided_within_ms
    )
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    bytes
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

fn public_url(config: &Config) -> Result<Option<PublicUrl>, CliError> {
    let read = config.public_url.as_deref().map(str::parse).transpose();
    read.map_err(|error: placet_control::BadPublicUrl| outside::mistake("public_url", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::create(&dir.path().join(".placet"), "127.0.0.1:7070".parse().unwrap()).unwrap();
        (dir, home)
    }

    #[test]
    fn a_fresh_home_can_be_read_back() {
        let (_dir, home) = home();
        assert_eq!(home.config().unwrap().terms, Terms::default());
        assert_eq!(home.signer().unwrap().verifier(), home.verifier().unwrap());
        assert!(home.rules().unwrap().policy().examples_checked() > 0);
        assert!(home.ledger_key().is_ok());
    }

    #[test]
    fn b4_people_come_only_where_pages_answer() {
        let with = |url: &str| {
            let (dir, home) = home();
            let settings = home.dir().join("placet.toml");
            let text = fs::read_to_string(&settings).unwrap();
            fs::write(&settings, format!("public_url = \"{url}\"\n{text}")).unwrap();
            (dir, home.settings())
        };
        for here in ["http://localhost:8070", "https://placet.example.org", "https://localhost:8443"] {
            assert!(with(here).1.is_ok_and(|settings| settings.public_url.is_some()), "{here}");
        }
        for elsewhere in ["http://placet.example.org:7070", "https://10.0.0.1", "https://placet.example.org/x"] {
            let error = with(elsewhere).1.unwrap_err();
            assert_eq!(error.code, Code::Usage);
            assert!(error.message.contains("public_url") && error.message.contains("tunnel"), "{}", error.message);
        }
    }

    #[test]
    fn a_second_set_up_touches_nothing() {
        let (_dir, home) = home();
        let before = home.seed("ledger.seed").unwrap();
        let again = Home::create(home.dir(), "127.0.0.1:1".parse().unwrap()).unwrap_err();
        assert_eq!(again.code, Code::Conflict);
        assert_eq!(home.seed("ledger.seed").unwrap(), before);
    }

    #[test]
    fn a_key_that_others_can_read_is_refused_with_what_to_do() {
        let (_dir, home) = home();
        let path = home.dir().join("keys/permit.seed");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = home.signer().unwrap_err();
        assert!(error.hint.unwrap().starts_with("chmod 600"));
    }

    #[test]
    fn a_typo_in_the_settings_refuses_to_start() {
        let (_dir, home) = home();
        let path = home.dir().join("placet.toml");
        let text = read(&path).unwrap().replace("lease_ms", "leese_ms");
        fs::write(&path, text).unwrap();
        assert!(home.config().unwrap_err().message.contains("leese_ms"));
    }

    #[test]
    fn b4_bounds_that_make_no_sense_refuse_to_start() {
        let (_dir, home) = home();
        let path = home.dir().join("placet.toml");
        let usual = read(&path).unwrap();
        for (from, to) in [
            ("asked_within_ms = 600000", "asked_within_ms = 0"),
            ("decided_within_ms = 600000", "decided_within_ms = 59999"),
            ("asked_within_ms = 600000", "asked_within_ms = 86400001"),
            ("most_asked = 40", "most_asked = -1"),
        ] {
            assert!(usual.contains(from), "{usual}");
            fs::write(&path, usual.replace(from, to)).unwrap();
            let told = home.settings().unwrap_err().message;
            assert!(told.contains(to) && told.contains("placet.toml"), "{told}");
        }
        fs::write(&path, usual.replace("most_asked = 40", "most_asked = 0")).unwrap();
        assert!(home.config().is_ok(), "a bound is switched off by 0");
    }
}
