//! `placet identity`: who may do what. Tokens are kept in the home, each in a file only you can read.

use placet_control::No;
use placet_domain::id::IdentityId;
use placet_domain::identity::Role;
use placet_domain::refusal::Refusal;
use placet_wire::api::{IdentityList, IdentityView, NewIdentity, NewToken, TokenOnce};
use placet_wire::endpoint::{CreateIdentity, ListIdentities, RevokeIdentity};
use placet_wire::{Client, Token};

use super::project;
use super::serve::open_store;
use crate::context::{Who, there_are};
use crate::desk::Desk;
use crate::error::{CliError, Code};
use crate::out::{Out, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make an identity and keep its token in the home
    #[command(
        after_help = "Examples:\n  placet identity add ada --role reviewer\n  placet identity add tom --role agent --project alpha\n  placet identity add w1 --role worker"
    )]
    Add {
        name: String,
        /// agent, worker, reviewer, operator, admin or auditor; may be given several times, but the first two stand alone
        #[arg(long = "role", required = true, value_parser = parse_role)]
        roles: Vec<Role>,
        /// The projects it sees (default: all)
        #[arg(long = "project")]
        projects: Vec<String>,
        /// Who stands behind it: that identity can never approve what this one proposes
        #[arg(long)]
        parent: Option<String>,
        /// Print the token instead of keeping it in the home
        #[arg(long)]
        print_token: bool,
    },
    /// Everybody who holds or held a credential
    List,
    /// Revoke an identity for good
    ///
    /// Its approvals, and its own actions that have not started, become void.
    Revoke { name: String },
    /// On the host: end all passkeys of somebody who lost them
    #[command(
        after_help = "Example:\n  placet identity end-passkeys ada --reason 'her phone fell into a lake'\n\nWhoever keeps the files of the home can do this, while no control plane runs; the ledger says that it was done here.\nTheir other ways in are closed too, but the token stays: `placet link --to ada` lets them in to add another passkey."
    )]
    EndPasskeys {
        /// By name or id
        name: String,
        /// Why, for whoever reads the ledger
        #[arg(long)]
        reason: String,
    },
}

fn parse_role(text: &str) -> Result<Role, String> {
    let known = || Role::ALL.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", ");
    Role::ALL.iter().copied().find(|role| role.as_str() == text).ok_or_else(|| format!("one of: {}", known()))
}

/// Works without a server in the background: people are named when a repository is set up.
pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    if let Command::EndPasskeys { name, reason } = command {
        return end_passkeys(&name, reason, who, out).await;
    }
    let desk = Desk::open(who).await?;
    let done = carry_out(command, desk.client.clone(), who, out).await;
    desk.close().await;
    done
}

async fn carry_out(command: Command, client: Client, who: &Who, out: &Out) -> Result<(), CliError> {
    match command {
        Command::Add { name, roles, projects, parent, print_token } => {
            let mut reach = std::collections::BTreeSet::new();
            for named in &projects {
                reach.insert(project::find(&client, Some(named)).await?.id);
            }
            let parent = match parent {
                Some(named) => Some(find(&client, &named).await?),
                None => None,
            };
            let new = NewIdentity {
                name: name.clone(),
                roles: roles.into_iter().collect(),
                projects: (!projects.is_empty()).then_some(reach),
                parent,
            };
            let made: TokenOnce = client.post(CreateIdentity {}, &new).await?;
            keep(made, print_token, who, out)?;
        }
        Command::List => {
            let list: IdentityList = client.get(ListIdentities {}).await?;
            out.answer(&list, |list| table(&list.identities.iter().map(row).collect::<Vec<_>>()));
        }
        Command::Revoke { name } => {
            let id = find(&client, &name).await?;
            let gone: IdentityView = client.post(RevokeIdentity { identity: id }, &NewToken::default()).await?;
            out.answer(&gone, |gone| format!("revoked {} ({})", gone.name, gone.id));
        }
        // Not from a desk, which has the store open: `run` sees to it.
        Command::EndPasskeys { name, reason } => end_passkeys(&name, reason, who, out).await?,
    }
    Ok(())
}

/// Straight in the store of the home: nobody is asked who they are, because whoever keeps these files could do anything with them.
async fn end_passkeys(name: &str, reason: String, who: &Who, out: &Out) -> Result<(), CliError> {
    let store = open_store(&who.home()?).await?;
    let ended = placet_control::end_passkeys(&store, name, reason).await;
    let person = ended.map_err(|no| not_ended(&no, name))?;
    let view = serde_json::json!({ "identity": person.id, "name": person.name });
    out.answer(&view, |_| {
        format!(
            "{} has no passkeys any more ({})\n  let them in: placet link --to {}",
            person.name, person.id, person.id
        )
    });
    Ok(())
}

fn not_ended(no: &No, name: &str) -> CliError {
    let code = match no {
        No::Refused(Refusal::Unknown { .. }) => {
            return CliError::new(Code::NotFound, format!("nobody is called `{name}`")).hint("placet identity list");
        }
        No::Refused(_) => Code::Refused,
        No::Unsealable(_)
        | No::Change(_)
        | No::Evidence(_)
        | No::MissingEvidence(_)
        | No::KeyReused
        | No::TooManyUploads { .. }
        | No::WrongDigest
        | No::Unseen
        | No::NoLongerKnown
        | No::Fault(_) => Code::Failed,
    };
    CliError::new(code, no.to_string())
}

fn keep(made: TokenOnce, print_token: bool, who: &Who, out: &Out) -> Result<(), CliError> {
    if print_token {
        out.answer(&made, |made| format!("{}\n{}", made.identity.id, made.token));
        return Ok(());
    }
    let path = who.home()?.keep_token(&made.identity.name, &Token::new(made.token))?;
    let view = serde_json::json!({ "identity": made.identity, "token_file": path });
    out.answer(&view, |_| format!("made {} ({})\n  token in {}", made.identity.name, made.identity.id, path.display()));
    Ok(())
}

fn row(identity: &IdentityView) -> Vec<String> {
    let roles: Vec<&str> = identity.roles.iter().map(|role| role.as_str()).collect();
    let state = if identity.revoked { "revoked" } else { "" };
    vec![identity.name.clone(), roles.join(" "), identity.id.to_string(), state.to_owned()]
}

/// An identity by name or id.
pub(super) async fn find(client: &Client, named: &str) -> Result<IdentityId, CliError> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let list: IdentityList = client.get(ListIdentities {}).await?;
    let found: Vec<&IdentityView> = list.identities.iter().filter(|one| one.name == named && !one.revoked).collect();
    match found.as_slice() {
        [one] => Ok(one.id),
        [] => {
            let known = list.identities.iter().filter(|one| !one.revoked).map(|one| one.name.as_str());
            Err(CliError::new(Code::NotFound, format!("nobody is called `{named}`")).hint(there_are(known)))
        }
        _ => Err(CliError::usage(format!("several are called `{named}`; give the id"))),
    }
}
