//! A yes on the command line: asked for at a terminal, or said with flags. Where two people are asked `--yes` alone is none: the name of the
//! tool is typed, or given together with the digest that was seen.
//!
//! A guard against slips and no right: whoever has a token decides by the API, which takes whatever carries the right digest.

use std::io::{IsTerminal as _, Write as _};

use placet_domain::policy::Tier;
use placet_wire::api::ActionView;

use crate::context::short;
use crate::error::{CliError, Code};
use crate::terminal::asked;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Word {
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
    /// The review digest you saw; anything else is refused
    #[arg(long, value_name = "DIGEST")]
    pub(super) seen: Option<String>,
    /// The name of the tool: where two people are asked, --yes counts only with it and --seen
    #[arg(long, value_name = "TOOL", requires = "yes")]
    pub(super) confirm: Option<String>,
}

/// What is still to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asks {
    Nothing,
    Yes,
    /// This word is typed.
    Name(String),
    /// The same, by whoever has decided a lot lately.
    Slowly(String),
}

impl Asks {
    /// What is asked of whoever sits at a terminal.
    pub(super) fn about(action: &ActionView) -> Self {
        if takes_name(action) { Self::Name(action.tool.clone()) } else { Self::Yes }
    }
}

/// Where two people are asked each types what it is, as on the pages.
pub(super) fn takes_name(action: &ActionView) -> bool {
    action.verdict.tier == Tier::C.to_string()
}

pub(super) fn is_attended() -> bool {
    std::io::stdin().is_terminal()
}

impl Word {
    /// What is still to be asked about it. What flags alone cannot say yes to is told before anything is decided.
    pub(super) fn asks(&self, action: &ActionView, is_attended: bool) -> Result<Asks, CliError> {
        rightly(self.confirm.as_deref(), action)?;
        let is_whole = self.confirm.is_some() && self.seen.is_some();
        match (self.yes, takes_name(action)) {
            (true, false) => Ok(Asks::Nothing),
            (true, true) if is_whole => Ok(Asks::Nothing),
            (true, true) if !is_attended || self.confirm.is_some() => Err(alone(action)),
            (true | false, true | false) => Ok(Asks::about(action)),
        }
    }
}

/// What was given as the name of its tool is that.
pub(super) fn rightly(confirm: Option<&str>, action: &ActionView) -> Result<(), CliError> {
    match confirm {
        Some(named) if named != action.tool => {
            let why = format!("`{named}` is not the tool of {}: nothing was decided", short(action.id));
            Err(CliError::usage(why)
                .hint(format!("it is `{}`; look again with `placet show {}`", action.tool, action.id)))
        }
        Some(_) | None => Ok(()),
    }
}

fn alone(action: &ActionView) -> CliError {
    let (id, tool) = (action.id, &action.tool);
    let why = format!("two people are asked about {}: --yes alone is no yes there", short(id));
    let how = format!("`placet show {id}` shows it with its review digest; then --yes --confirm {tool} --seen DIGEST");
    CliError::usage(why).hint(how)
}

/// Shows it and takes only an explicit yes, or the name that is asked for.
pub(super) async fn agree(asks: &Asks, shown: &str, question: &str) -> Result<(), CliError> {
    if *asks == Asks::Nothing {
        return Ok(());
    }
    if !is_attended() {
        return Err(CliError::usage("nobody is there to ask").hint(match asks {
            Asks::Name(tool) | Asks::Slowly(tool) => format!(
                "look with `placet show ID`, then give --yes --confirm {tool} --seen with the review digest it shows"
            ),
            Asks::Nothing | Asks::Yes => {
                "look with `placet show ID`, then give --yes --seen with the review digest it shows".to_owned()
            }
        }));
    }
    let _ = writeln!(anstream::stderr(), "{shown}");
    let is_so = match asks {
        Asks::Nothing | Asks::Yes => asked::is_yes(question).await?,
        Asks::Name(tool) => named(&format!("{question} two people are asked"), tool).await?,
        Asks::Slowly(tool) => named(&format!("{question} you have decided a lot lately"), tool).await?,
    };
    if is_so {
        return Ok(());
    }
    Err(CliError::new(Code::Waiting, "that is no yes: nothing was decided, and it still waits"))
}

async fn named(question: &str, tool: &str) -> Result<bool, CliError> {
    Ok(asked::answer(&format!("{question}; type `{tool}`:")).await?.is_some_and(|said| said == tool))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn action(tier: &str) -> ActionView {
        let (id, digest) = ("0".repeat(32), format!("sha256:{}", "a".repeat(64)));
        serde_json::from_value(json!({
            "id": format!("act_{id}"), "run": format!("run_{id}"), "project": format!("prj_{id}"),
            "status": "PENDING_APPROVAL", "meaning": "", "tool": "nmap", "kind": "scan_network", "digest": digest,
            "review": digest, "approvals": [], "approvals_missing": 1, "proposer": format!("idn_{id}"),
            "deadline": "2026-01-31T09:30:00.000Z", "attempt": 0,
            "verdict": { "tier": tier, "risk": 0.3, "policy": digest, "reasons": [] },
        }))
        .unwrap()
    }

    fn word(yes: bool, confirm: Option<&str>, seen: Option<&str>) -> Word {
        Word { yes, confirm: confirm.map(str::to_owned), seen: seen.map(str::to_owned) }
    }

    #[test]
    fn b4_a_yes_by_flag_is_none_where_two_people_are_asked() {
        let (one, two) = (action("B"), action("C"));
        assert_eq!(word(true, None, None).asks(&one, false).unwrap(), Asks::Nothing);
        for half in [word(true, None, None), word(true, Some("nmap"), None), word(true, None, Some("sha256:0"))] {
            let error = half.asks(&two, false).unwrap_err();
            assert_eq!(error.code, Code::Usage, "{half:?}");
            assert!(error.hint.unwrap().contains("--confirm nmap --seen DIGEST"), "{half:?}");
        }
        assert_eq!(word(true, Some("nmap"), Some("sha256:0")).asks(&two, false).unwrap(), Asks::Nothing);
        assert_eq!(word(true, None, None).asks(&two, true).unwrap(), Asks::Name("nmap".to_owned()), "it is typed");
        assert_eq!(word(false, None, None).asks(&two, true).unwrap(), Asks::Name("nmap".to_owned()));
        assert_eq!(word(false, None, None).asks(&one, true).unwrap(), Asks::Yes);
    }

    #[test]
    fn b4_the_wrong_name_says_yes_to_nothing() {
        for tier in ["B", "C"] {
            let error = word(true, Some("sh"), Some("sha256:0")).asks(&action(tier), false).unwrap_err();
            assert!(error.message.contains("`sh` is not the tool"), "{}", error.message);
        }
    }
}
