//! `placet project`: make and list projects, and say whether what is said in calls of models is kept.

use std::collections::BTreeSet;

use placet_domain::project::Separation;
use placet_wire::Client;
use placet_wire::api::{NewProject, ProjectList, ProjectView, WordsRequest};
use placet_wire::endpoint::{CreateProject, ListProjects, SetProjectWords};

use crate::context::{Who, there_are};
use crate::error::{CliError, Code};
use crate::out::{Out, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make a project
    #[command(after_help = "Example:\n  placet project new alpha")]
    New {
        name: String,
        /// You work alone: the person behind an agent may approve where one approval suffices; each is marked
        #[arg(long)]
        single_operator: bool,
    },
    /// The projects you see
    List,
    /// Keep what is said in calls of models, or no longer
    #[command(
        after_help = "Words are kept without secrets and encrypted, so that the home needs a key: `openssl rand -hex 32`, in a file of\nmode 600 that `evidence_key_file` in placet.toml names. Reviewers and auditors read them: `placet run call RUN N --show`.\n\nExamples:\n  placet project words --keep --reason 'we look into what it is told'\n  placet project words --project alpha --stop --reason 'we are done'"
    )]
    Words {
        /// By name or id; the only one there is, if none is named
        #[arg(long)]
        project: Option<String>,
        #[command(flatten)]
        what: What,
        /// Why; it goes into the record
        #[arg(long)]
        reason: String,
    },
}

/// One of the two, and always said.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct What {
    /// From here on they are kept
    #[arg(long)]
    keep: bool,
    /// From here on they are not; what was kept stays for its time
    #[arg(long)]
    stop: bool,
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    match command {
        Command::New { name, single_operator } => {
            let separation = if single_operator { Separation::SingleOperator } else { Separation::FourEyes };
            let made: ProjectView = client.post(CreateProject {}, &NewProject { name, separation }).await?;
            out.answer(&made, |made| format!("made {} ({})", made.name, made.id));
            out.next(&format!("placet scope lock NAME FILE --project {}", made.name));
        }
        Command::Words { project, what, reason } => {
            let id = find(&client, project.as_deref()).await?.id;
            let request = WordsRequest { kept: what.keep, reason };
            let view: ProjectView = client.post(SetProjectWords { project: id }, &request).await?;
            out.answer(&view, |view| {
                let are = if view.keeps_words { "kept from here on" } else { "no longer kept" };
                format!("the words of calls in {} are {are}", view.name)
            });
        }
        Command::List => {
            let list: ProjectList = client.get(ListProjects {}).await?;
            let row = |project: &ProjectView| vec![project.name.clone(), project.id.to_string()];
            out.answer(&list, |list| table(&list.projects.iter().map(row).collect::<Vec<_>>()));
        }
    }
    Ok(())
}

/// A project by name or id; the only one there is, if none is named.
pub(super) async fn find(client: &Client, named: Option<&str>) -> Result<ProjectView, CliError> {
    let list: ProjectList = client.get(ListProjects {}).await?;
    let fits = |project: &ProjectView| named.is_none_or(|name| project.name == name || project.id.to_string() == name);
    let known: BTreeSet<String> = list.projects.iter().map(|project| project.name.clone()).collect();
    let known = || there_are(known.iter().map(String::as_str));
    let mut found: Vec<ProjectView> = list.projects.into_iter().filter(fits).collect();
    match (found.len(), named) {
        (1, _) => Ok(found.remove(0)),
        (0, Some(name)) => Err(CliError::new(Code::NotFound, format!("no project `{name}`")).hint(known())),
        (0, None) => Err(CliError::new(Code::NotFound, "there is no project yet").hint("placet project new NAME")),
        (_, Some(name)) => Err(CliError::usage(format!("several projects are called `{name}`; give the id"))
            .hint("`placet project list` shows the ids")),
        (_, None) => Err(CliError::usage("there are several projects; name one with --project").hint(known())),
    }
}
