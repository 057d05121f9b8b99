//! `placet init`: sets up a home and, in a git repository, the team's files. What exists is never touched.

use std::net::SocketAddr;
use std::path::PathBuf;

use placet_control::bootstrap;
use placet_domain::identity::Role;
use placet_domain::project::Separation;
use placet_wire::api::{NewProject, ProjectList, ProjectView};
use placet_wire::endpoint::{CreateProject, ListProjects};
use placet_workspace::Repository;
use placet_worktree::team::{self, Outcome};
use serde::Serialize;

use super::serve::open_store;
use super::worktree::Site;
use super::worktree::duties::apply;
use crate::context::Who;
use crate::desk::Desk;
use crate::error::{CliError, chain};
use crate::home::Home;
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet init\n  placet init --home /srv/placet --address 127.0.0.1:8080")]
pub(crate) struct Args {
    /// Where the control plane will listen
    #[arg(long, default_value = "127.0.0.1:7070", value_name = "ADDRESS")]
    address: SocketAddr,
    /// You work alone: you may decide yourself what otherwise takes another person; each such decision is marked
    #[arg(long)]
    single_operator: bool,
}

#[derive(Debug, Serialize)]
struct Made {
    home: PathBuf,
    admin_token: PathBuf,
}

/// What there is in a repository afterwards.
#[derive(Debug, Serialize)]
struct Prepared {
    home: PathBuf,
    project: String,
    written: Vec<String>,
    kept: Vec<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let here = std::env::current_dir()?;
    if let Ok(repository) = Repository::find(&here) {
        return in_repository(&args, &repository, who, out).await;
    }
    let dir = who.home.clone().unwrap_or_else(|| here.join(".placet"));
    let home = Home::create(&dir, args.address)?;
    let admin_token = first_identity(&home).await?;
    out.answer(&Made { home: dir, admin_token }, |made| {
        format!(
            "{} {}\n  rules    {}\n  you are  admin (token in {})",
            styled(BOLD, "set up"),
            made.home.display(),
            made.home.join("policy").display(),
            made.admin_token.display()
        )
    });
    out.next("`placet serve`, and beside it `placet project new NAME` and `placet identity add ada --role reviewer`");
    Ok(())
}

/// A home, a project for the repository, and the team's files. Run it as often as you like.
async fn in_repository(args: &Args, repository: &Repository, who: &Who, out: &Out) -> Result<(), CliError> {
    let dir = who.home.clone().unwrap_or_else(|| repository.root().join(".placet"));
    if who.home.is_none() {
        Home::check_own(&dir)?;
    }
    if !dir.join("placet.toml").exists() {
        first_identity(&Home::create(&dir, args.address)?).await?;
    }
    let files = team::init(repository.root()).map_err(|error| CliError::failed(chain(&error)))?;
    let site = Site::here()?;
    let who = Who { home: Some(dir.clone()), ..who.clone() };
    let desk = Desk::open(&who).await?;
    let project = project(&desk, &site, args.single_operator).await;
    desk.close().await;
    let names = |wanted: fn(Outcome) -> bool| {
        files.iter().filter(|file| wanted(file.outcome)).map(|file| file.path.clone()).collect()
    };
    let prepared = Prepared {
        home: dir,
        project: project?.name,
        written: names(|outcome| outcome == Outcome::Written),
        kept: names(|outcome| outcome != Outcome::Written),
    };
    out.answer(&prepared, |prepared| {
        let list = |paths: &[String]| paths.iter().map(|path| format!("\n    {path}")).collect::<String>();
        let (head, project) = (styled(BOLD, "ready"), &prepared.project);
        let mut text = format!("{head} {project}, with its home in {}", prepared.home.display());
        if !prepared.written.is_empty() {
            text.push_str(&format!("\n  written{}", list(&prepared.written)));
        }
        if !prepared.kept.is_empty() {
            text.push_str(&format!("\n  kept as they are{}", list(&prepared.kept)));
        }
        text
    });
    if team::makefile_lacks_include(repository.root()) {
        out.note(&format!("for make targets, add this line to your Makefile: {}", team::MAKE_INCLUDE));
    }
    out.next("read agents/, commit it, then `placet start --agent backend --ticket ABC-1`");
    Ok(())
}

/// The project of a repository is called like its directory. Duties that the team wrote down count from the beginning.
async fn project(desk: &Desk, site: &Site, single_operator: bool) -> Result<ProjectView, CliError> {
    let list: ProjectList = desk.client.get(ListProjects {}).await?;
    if let Some(project) = list.projects.into_iter().next() {
        return Ok(project);
    }
    let directory = site.repository.root().file_name().map(|name| name.to_string_lossy().into_owned());
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = directory.unwrap_or_default().chars().map(plain).take(80).collect();
    let name = if name.is_empty() { "repository".to_owned() } else { name };
    let separation = if single_operator { Separation::SingleOperator } else { Separation::FourEyes };
    let made = desk.client.post(CreateProject {}, &NewProject { name, separation }).await?;
    apply(desk, site).await?;
    Ok(made)
}

/// The first administrator also operates and audits, but does not review: nobody approves what they set up alone.
pub(crate) async fn first_identity(home: &Home) -> Result<PathBuf, CliError> {
    let store = open_store(home).await?;
    let roles = [Role::Admin, Role::Operator, Role::Auditor].into_iter().collect();
    let (_, token) = bootstrap(&store, "admin", roles).await.map_err(|no| CliError::failed(no.to_string()))?;
    home.keep_token("admin", &token)
}
