//! `placet scope`: lock and list scopes.

use std::path::PathBuf;

use placet_domain::scope::ScopeDraft;
use placet_wire::api::{NewScope, ScopeList, ScopeView};
use placet_wire::endpoint::{ListScopes, LockScope};

use super::project;
use crate::context::Who;
use crate::error::CliError;
use crate::home::read;
use crate::out::{Out, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Lock a scope from a TOML file
    #[command(
        after_help = "The file says what may change, be reached and be used:\n\n  allow = [\"src/**\"]\n  deny = [\"src/secret/**\"]\n  targets = [\"10.0.0.0/24\", \"*.example.org\"]\n  tools = [\"cat\", \"sh\"]"
    )]
    Lock {
        name: String,
        file: PathBuf,
        /// The project (default: the only one)
        #[arg(long)]
        project: Option<String>,
    },
    /// The scopes of a project, newest version of each
    List {
        #[arg(long)]
        project: Option<String>,
    },
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    match command {
        Command::Lock { name, file, project } => {
            let rules: ScopeDraft = toml::from_str(&read(&file)?)
                .map_err(|error| CliError::usage(format!("`{}`: {error}", file.display())))?;
            let project = project::find(&client, project.as_deref()).await?;
            let locked: ScopeView = client.post(LockScope { project: project.id }, &NewScope { name, rules }).await?;
            out.answer(&locked, |scope| format!("locked {} as {}", scope.name, scope.version));
        }
        Command::List { project } => {
            let project = project::find(&client, project.as_deref()).await?;
            let list: ScopeList = client.get(ListScopes { project: project.id }).await?;
            let row = |scope: &ScopeView| vec![scope.name.clone(), scope.version.to_string()];
            out.answer(&list, |list| table(&list.scopes.iter().map(row).collect::<Vec<_>>()));
        }
    }
    Ok(())
}
