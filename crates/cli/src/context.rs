//! What client commands share: where the control plane is and who is asking.

use std::path::PathBuf;

use placet_domain::id::{ActionId, RunId};
use placet_domain::text::spelled_out;
use placet_wire::api::{ActionView, PageQuery, RunQuery, RunView};
use placet_wire::endpoint::{ListActions, ListRuns};
use placet_wire::{Client, Token};

use crate::error::{CliError, Code};
use crate::home::Home;

/// Options every client command takes. A field's name is the option's id in every command: it must not be one that some
/// command uses for something else, or the two would share a value.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Who {
    /// The home directory of this Placet (default: the nearest `.placet` above)
    #[arg(long, global = true, env = "PLACET_HOME", value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// The control plane to use (default: the running one of the home, else the address in its settings)
    #[arg(long, global = true, env = "PLACET_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Who you are: a name whose token is kept in the home
    #[arg(long = "as", global = true, env = "PLACET_AS", value_name = "NAME", default_value = "admin")]
    pub(crate) acting_as: String,
    /// The token itself, instead of a name; for machines without a home
    #[arg(long, global = true, env = "PLACET_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
}

impl Who {
    pub(crate) fn home(&self) -> Result<Home, CliError> {
        Home::find(self.home.as_deref())
    }

    /// The same where a home is optional. One that was named is there: whoever mistyped it does not want to go on without.
    pub(crate) fn home_if_any(&self) -> Result<Option<Home>, CliError> {
        self.optional(self.home())
    }

    /// The same without the check of a found home, see [`Home::locate`].
    pub(crate) fn located_home_if_any(&self) -> Result<Option<Home>, CliError> {
        self.optional(Home::locate(self.home.as_deref()))
    }

    fn optional(&self, home: Result<Home, CliError>) -> Result<Option<Home>, CliError> {
        match home {
            Ok(home) => Ok(Some(home)),
            Err(error) if self.home.is_none() && error.code == Code::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where people come with a browser: as the settings of the home say, if there is one and no other control plane was named.
    pub(crate) fn seat(&self, client: &Client) -> Result<String, CliError> {
        let home = if self.server.is_none() { self.home_if_any()? } else { None };
        let public = home.map(|home| home.public_url()).transpose()?.flatten();
        Ok(public.map_or_else(|| by_name(client.server()), |public| public.to_string()))
    }

    pub(crate) fn client(&self) -> Result<Client, CliError> {
        let server = match &self.server {
            Some(server) if !server.starts_with("http://") && !server.starts_with("https://") => {
                return Err(CliError::usage(format!("`{server}` is no address of a control plane"))
                    .hint("write it like http://127.0.0.1:7070"));
            }
            Some(server) => server.clone(),
            None => self.home()?.url()?,
        };
        let token = match &self.token {
            Some(token) => Token::new(token.clone()),
            None => self.home()?.token(&self.acting_as)?,
        };
        let client = Client::new(server, token);
        // A caller who names both the server and the token chose them together. An address or a token that comes from a home is only for
        // the control plane of that home.
        let is_named = self.server.is_some() && self.token.is_some();
        Ok(if is_named { client } else { client.proving(self.home()?.verifier()?) })
    }
}

/// Replaces a loopback address by `localhost`: browsers do not accept passkeys for IP addresses, and a passkey made for the name does not
/// work at the address.
fn by_name(server: &str) -> String {
    let numbers = ["//127.0.0.1", "//[::1]"];
    let found = numbers.iter().find(|number| server.contains(**number));
    found.map_or_else(|| server.to_owned(), |number| server.replacen(number, "//localhost", 1))
}

/// Limit of a list of names; people do not read longer ones.
const MOST_NAMED: usize = 20;

/// Lists the existing names after an unknown one, spelled so that they can be typed.
pub(crate) fn there_are<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let all: Vec<String> = names.map(|name| format!("`{}`", spelled_out(name))).collect();
    let more = if all.len() > MOST_NAMED { ", …" } else { "" };
    match all.get(..all.len().min(MOST_NAMED)) {
        Some(shown) if !shown.is_empty() => format!("there are: {}{more}", shown.join(", ")),
        Some(_) | None => "there are none yet".to_owned(),
    }
}

/// Fewer characters would too often be the end of something that was not meant.
const SHORTEST_END: usize = 4;

/// The one id that ends like what was typed. Not one that begins like it: ids begin with the time, and so alike.
fn unique<T: Copy + std::fmt::Display>(typed: &str, known: impl Iterator<Item = T>, what: &str) -> Result<T, CliError> {
    let typed = typed.trim_start_matches('…');
    if typed.len() < SHORTEST_END {
        return Err(CliError::usage(format!(
            "`{typed}` is too short for the end of an id; give at least {SHORTEST_END} characters"
        )));
    }
    let found: Vec<T> = known.filter(|id| id.to_string().ends_with(typed)).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(CliError::new(Code::NotFound, format!("no {what} `{typed}`"))
            .hint("`placet run list` and `placet run show RUN` name them")),
        several => {
            let listed: Vec<String> = several.iter().take(5).map(ToString::to_string).collect();
            Err(CliError::usage(format!("`{typed}` fits several: {}", listed.join(", "))))
        }
    }
}

/// An action by its id or the end of it.
pub(crate) async fn action_id(client: &Client, typed: &str) -> Result<ActionId, CliError> {
    if let Ok(id) = typed.parse() {
        return Ok(id);
    }
    let mut known = Vec::new();
    for run in all_runs(client).await? {
        known.extend(all_actions(client, run.id).await?.into_iter().map(|action| action.id));
    }
    unique(typed, known.into_iter(), "action")
}

/// A run by its id or the end of it.
pub(crate) async fn run_id(client: &Client, typed: &str) -> Result<RunId, CliError> {
    if let Ok(id) = typed.parse() {
        return Ok(id);
    }
    unique(typed, all_runs(client).await?.into_iter().map(|run| run.id), "run")
}

/// Every run that is seen, newest first, page by page.
pub(crate) async fn all_runs(client: &Client) -> Result<Vec<RunView>, CliError> {
    let mut runs = Vec::new();
    let mut query = RunQuery::default();
    loop {
        let list = client.get(ListRuns { query: query.clone() }).await?;
        runs.extend(list.runs);
        match list.next {
            Some(next) => query.after = Some(next),
            None => return Ok(runs),
        }
    }
}

/// Every action of a run, oldest first, page by page.
pub(crate) async fn all_actions(client: &Client, run: RunId) -> Result<Vec<ActionView>, CliError> {
    let mut actions = Vec::new();
    let mut query = PageQuery::default();
    loop {
        let list = client.get(ListActions { run, query }).await?;
        actions.extend(list.actions);
        match list.next {
            Some(next) => query.after = Some(next),
            None => return Ok(actions),
        }
    }
}

/// The short form of an id: its end, which is random and so tells ids apart.
pub(crate) fn short(id: impl std::fmt::Display) -> String {
    let id = id.to_string();
    format!("…{}", &id[id.len().saturating_sub(8)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["act_01a1e1642b68", "act_01a1e1642c68", "act_01a1e164aaaa"];

    fn find(typed: &str) -> Result<&'static str, CliError> {
        unique(typed, KNOWN.into_iter(), "action")
    }

    #[test]
    fn an_id_is_found_by_its_end_with_or_without_the_dots() {
        assert_eq!(find("42b68").unwrap(), KNOWN[0]);
        assert_eq!(find("…aaaa").unwrap(), KNOWN[2]);
    }

    #[test]
    fn loopback_number_becomes_localhost_for_browsers() {
        assert_eq!(by_name("http://127.0.0.1:7070"), "http://localhost:7070");
        assert_eq!(by_name("http://[::1]:7070"), "http://localhost:7070");
        assert_eq!(by_name("https://placet.example.org"), "https://placet.example.org");
    }

    #[test]
    fn an_end_that_fits_several_is_not_guessed() {
        let error = unique("2c68", ["act_a2c68", "act_b2c68"].into_iter(), "action").unwrap_err();
        assert_eq!(error.code, Code::Usage);
        assert!(error.message.contains("act_a2c68, act_b2c68"), "{}", error.message);
    }

    #[test]
    fn nothing_is_found_by_its_beginning_or_by_almost_nothing() {
        assert_eq!(find("act_01a1").unwrap_err().code, Code::NotFound);
        for typed in ["", "…", "68", "a"] {
            assert_eq!(find(typed).unwrap_err().code, Code::Usage, "{typed}");
        }
    }
}
