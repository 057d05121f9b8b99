//! What a cage by hand is asked for with: the options of `run` and `explain`, and the request they make.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use placet_domain::scope::TargetRule;
use placet_egress::Settings;
use placet_sandbox::{
    LimitName, Limits, Profile, Profiles, READ_ONLY_ROOTS, Request, Rules, SandboxError, WORKSPACE, host_risks,
};

use super::changes::Private;
use super::doors::DoorTo;
use super::explain::Asked;
use super::requests::Requests;
use super::way_out::{self, WayOut};
use crate::context::Who;
use crate::error::{CliError, Code, chain};
use crate::home::NAME as HOME;
use crate::profiles::{files_in, network, profiles_of};

#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// The kind of cage: a name of `placet sandbox profiles`, or a file
    #[arg(long, default_value = "default", value_name = "NAME")]
    profile: String,
    /// A directory that appears as /work, writable, where the command starts
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Keep what the command changes apart: the directory stays as it is
    #[arg(long, requires = "workspace")]
    layered: bool,
    /// Let the command change repositories (.git, .hg, .jj, bare ones) in the workspace: git on this machine then runs programs that the
    /// command wrote into their settings and hooks
    #[arg(long, requires = "workspace", conflicts_with = "layered")]
    writable_git: bool,
    /// A file or directory that appears read-only (default: below /mnt, or where it is if that is a place for it)
    #[arg(long = "read-only", value_name = "HOST[:CAGE]")]
    read_only: Vec<String>,
    /// A variable for the command
    #[arg(long = "env", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// Limits instead of the profile's: wall, cpu, share, memory, processes, open_files, file_size, disk, output
    #[arg(long = "limit", value_name = "NAME=VALUE,…", value_delimiter = ',')]
    limits: Vec<String>,
    /// A port in the cage that leads to an address outside (default: the same port of this machine)
    #[arg(long = "door", value_name = "PORT[=ADDRESS]")]
    doors: Vec<String>,
    #[command(flatten)]
    requests: Requests,
}

impl Options {
    pub(super) fn profile(&self, who: &Who) -> Result<Profile, CliError> {
        let mut files = home_files(who)?;
        let named = Path::new(&self.profile);
        let by_file = self.profile.contains('/') || named.extension().is_some_and(|extension| extension == "toml");
        let name = if by_file {
            files.retain(|file| file.file_name() != named.file_name());
            files.push(named.to_owned());
            named.file_stem().unwrap_or_default().to_string_lossy().into_owned()
        } else {
            self.profile.clone()
        };
        let profiles = profiles_of(&files)?;
        let profile = profiles.get(&name).cloned().ok_or_else(|| unknown(&name, &profiles))?;
        self.stays_within(&profile)?;
        Ok(profile)
    }

    /// Whether everybody who would be reached, by requests or through a door, is one that the profile names.
    fn stays_within(&self, profile: &Profile) -> Result<(), CliError> {
        let network = network(profile)?;
        let hosts = self.requests()?.into_iter().flat_map(|settings| settings.allow);
        let mut wanted: Vec<TargetRule> = hosts.map(|rule| rule.draft().host.clone()).collect();
        for door in self.doors()? {
            wanted.push(door.to.ip().to_string().parse().map_err(|bad| CliError::usage(format!("{bad}")))?);
        }
        wanted.iter().find(|rule| !network.reaches(rule)).map_or(Ok(()), |rule| Err(beyond(profile, rule)))
    }

    /// Refuses directories that would show a home of Placet to the command, because the cage cannot hide it there.
    pub(super) fn hides_homes(&self, who: &Who) -> Result<(), CliError> {
        let home = who.home_if_any()?;
        let holds = |directory: &Path| home.as_ref().is_some_and(|home| home.overlaps(directory));
        let homes = |directory: &Path| host_risks(directory).map_err(|error| not_started(&error)).map(|all| all.homes);
        for text in &self.read_only {
            let (directory, _) = read_only(text)?;
            let directory = linkless(&directory);
            if holds(&directory) || names_home(&directory) {
                return Err(shows_home(&directory));
            }
            if let Some(inside) = homes(&directory)?.first() {
                return Err(shows_home(&directory.join(inside)));
            }
        }
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let workspace = linkless(&absolute(workspace)?);
        if names_home(&workspace) {
            return Err(shows_home(&workspace));
        }
        if self.writable_git {
            // Nothing in such a workspace is covered.
            return match homes(&workspace)?.first() {
                Some(inside) => Err(shows_home(&workspace.join(inside))),
                None if holds(&workspace) => Err(shows_home(&workspace)),
                None => Ok(()),
            };
        }
        if !holds(&workspace) {
            return Ok(());
        }
        let home = home.map(|home| linkless(home.dir())).unwrap_or_default();
        let is_hidden = match home.strip_prefix(&workspace) {
            Ok(below) => homes(&workspace)?.iter().any(|hidden| below.starts_with(hidden)),
            Err(_) => false,
        };
        if is_hidden { Ok(()) } else { Err(shows_home(&workspace)) }
    }

    /// Returns the workspace if what the command made in it must be reported.
    pub(super) fn guarded_workspace(&self) -> Result<Option<PathBuf>, CliError> {
        self.workspace.as_deref().filter(|_| !self.layered).map(absolute).transpose()
    }

    pub(super) const fn is_git_writable(&self) -> bool {
        self.writable_git
    }

    pub(super) const fn is_layered(&self) -> bool {
        self.layered
    }

    pub(super) fn doors(&self) -> Result<Vec<DoorTo>, CliError> {
        self.doors.iter().map(|text| door(text)).collect()
    }

    /// What the command may ask of the world, where it may ask anything.
    pub(super) fn requests(&self) -> Result<Option<Settings>, CliError> {
        self.requests.settings()
    }

    /// Variables that were asked for.
    fn own_variables(&self) -> Result<Vec<(String, String)>, CliError> {
        let given = self.variables.iter().map(|text| pair(text, "NAME=VALUE"));
        given.map(|pair| pair.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
    }

    /// The request for a command, with its way out. `private` is where a layered workspace keeps its changes.
    pub(super) fn request(
        &self,
        profile: &Profile,
        command: &[String],
        private: Option<&Private>,
        way_out: Option<&WayOut>,
    ) -> Result<Request, CliError> {
        let mut request = Request::new(command.iter().cloned()).limits(self.limits(profile)?);
        if let Some(way_out) = way_out {
            request = way_out.fit(request);
        }
        if let Some(directory) = &self.workspace {
            let directory = absolute(directory)?;
            request = match private {
                Some(private) => {
                    request.workspace(private.layers_above(directory)).rules(Rules::writable().hide_names(HOME))
                }
                None if self.writable_git => request.workspace(directory).writable_repositories(),
                None => request.workspace(directory),
            };
        }
        for text in &self.read_only {
            let (host, cage) = read_only(text)?;
            request = request.read_only(host, cage);
        }
        for (name, value) in self.own_variables()? {
            request = request.env(name, value);
        }
        Ok(self.doors()?.into_iter().fold(request, |request, door| request.door(door.port)))
    }

    /// The same, to be shown.
    pub(super) fn asked(&self) -> Result<Asked, CliError> {
        let doors = self.doors()?.iter().map(|door| door.port).collect();
        let mut asked = Asked { doors, variables: self.own_variables()?, ..Asked::default() };
        if let Some(settings) = self.requests()? {
            asked.doors.push(way_out::PORT);
            asked.variables.splice(0..0, way_out::shown(&settings)?);
        }
        for text in &self.read_only {
            let (host, cage) = read_only(text)?;
            asked.files.push((cage.display().to_string(), format!("{} of the host, read-only", host.display())));
        }
        if let Some(directory) = &self.workspace {
            let how = match (self.layered, self.writable_git) {
                (true, _) => "in layers: changes are kept apart",
                (false, true) => "writable, repositories too",
                (false, false) => "repositories read-only, everything else writable",
            };
            asked.files.push((WORKSPACE.to_owned(), format!("{} of the host, {how}", absolute(directory)?.display())));
        }
        Ok(asked)
    }

    pub(super) fn limits(&self, profile: &Profile) -> Result<Limits, CliError> {
        self.limits.iter().try_fold(profile.limits(), |limits, text| {
            let (name, value) = pair(text, "NAME=VALUE, like wall=10s")?;
            let bad = |error: placet_sandbox::BadLimit| CliError::usage(error.to_string());
            let name: LimitName = name.parse().map_err(bad)?;
            Ok(name.set(limits, name.parse(value).map_err(bad)?))
        })
    }
}

/// Resolves links. A path that does not exist is returned unchanged; the launch refuses it.
fn linkless(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// True if the path is or lies in a directory that is named like a home.
fn names_home(path: &Path) -> bool {
    path.iter().any(|name| name.eq_ignore_ascii_case(HOME))
}

fn shows_home(path: &Path) -> CliError {
    let why = format!("`{}` would show a home of Placet to the command: its keys and tokens", path.display());
    CliError::new(Code::Refused, why).hint("name a narrower folder, with no home in it")
}

/// The files of the home, if there is one.
pub(super) fn home_files(who: &Who) -> Result<Vec<PathBuf>, CliError> {
    who.home_if_any()?.map_or_else(|| Ok(Vec::new()), |home| files_in(&home.profiles_dir()))
}

/// What a cage by hand would reach that its profile does not let programs reach: refused, as a worker would.
fn beyond(profile: &Profile, wanted: &TargetRule) -> CliError {
    let why = format!("the profile `{}` does not let programs reach `{wanted}`", profile.name());
    CliError::usage(why).hint("choose another with --profile, or name it in `network` of the profile")
}

fn unknown(name: &str, profiles: &Profiles) -> CliError {
    CliError::new(Code::NotFound, format!("no profile `{name}`"))
        .hint(format!("choose one of {}, or write profiles/{name}.toml in the home", profiles.listed()))
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path).map_err(|error| CliError::usage(format!("`{}`: {error}", path.display())))
}

fn pair<'a>(text: &'a str, form: &str) -> Result<(&'a str, &'a str), CliError> {
    text.split_once('=').ok_or_else(|| CliError::usage(format!("`{text}` is not {form}")))
}

/// `HOST[:CAGE]`; without a place of its own it keeps its path where requests may mount, or goes below /mnt.
fn read_only(text: &str) -> Result<(PathBuf, PathBuf), CliError> {
    if let Some((host, cage)) = text.rsplit_once(':') {
        return Ok((absolute(Path::new(host))?, PathBuf::from(cage)));
    }
    let host = absolute(Path::new(text))?;
    let stays = READ_ONLY_ROOTS.iter().any(|root| host.starts_with(root) && host != Path::new(root));
    let name = host.file_name().ok_or_else(|| CliError::usage(format!("`{text}` has no name; write HOST:CAGE")))?;
    let cage = if stays { host.clone() } else { Path::new("/mnt").join(name) };
    Ok((host, cage))
}

/// `PORT[=ADDRESS]`.
fn door(text: &str) -> Result<DoorTo, CliError> {
    let bad = || CliError::usage(format!("`{text}` is not PORT or PORT=ADDRESS, like 3128=127.0.0.1:8080"));
    let (port, to) = text.split_once('=').map_or((text, None), |(port, to)| (port, Some(to)));
    let port: u16 = port.parse().map_err(|_| bad())?;
    let to = match to {
        Some(to) => to.parse().map_err(|_| bad())?,
        None => SocketAddr::from(([127, 0, 0, 1], port)),
    };
    Ok(DoorTo { port, to })
}

/// Why no command is running, with the code and the hint that fit.
pub(in crate::command) fn not_started(error: &SandboxError) -> CliError {
    let message = chain(error);
    match error {
        SandboxError::Request(_) | SandboxError::Source { .. } => CliError::usage(message),
        SandboxError::Unprotected { .. } => CliError::usage(message)
            .hint("add --layered to keep changes apart, or --writable-git to let the command change repositories"),
        SandboxError::ProgramNotFound(_) => CliError::new(Code::NotFound, message)
            .hint("a cage shows the programs below /usr; bring others with --read-only or in the workspace"),
        SandboxError::TimeIsUp { .. } | SandboxError::LimitTooLow { .. } => CliError::new(Code::OverLimit, message),
        SandboxError::HostLacks { .. } | SandboxError::Step(_) => {
            CliError::new(Code::NoCage, message).hint("`placet doctor` says what this machine enforces")
        }
        SandboxError::ProgramRefused(_)
        | SandboxError::HelperSilent
        | SandboxError::HelperDied
        | SandboxError::Io { .. }
        | _ => CliError::failed(message),
    }
}
