//! `placet notify`: how people are told that something waits for them, whether it arrives, and on one's own desktop.

mod desktop;

use placet_control::{Pace, Route, Settings, Trial};
use placet_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::context::Who;
use crate::error::{CliError, Code};
use crate::out::{Out, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// The routes of the settings: what is told where, and when
    #[command(after_help = "Examples:\n  placet notify check")]
    Check,
    /// Send everybody of a route a message that tells nothing
    #[command(after_help = "Examples:\n  placet notify test team")]
    Test {
        /// The route
        name: String,
    },
    /// Tell on this desktop what waits, as long as this runs
    Desktop(desktop::Args),
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    match command {
        Command::Check => check(who, out),
        Command::Test { name } => test(&name, who, out).await,
        Command::Desktop(args) => desktop::run(args, who, out).await,
    }
}

fn check(who: &Who, out: &Out) -> Result<(), CliError> {
    let routes = who.home()?.settings()?.notify;
    if routes.all().is_empty() && !out.is_json() {
        out.note("nobody is told anything; `[[notify]]` in placet.toml says how (docs/notifications.md)");
        return Ok(());
    }
    let shown: Vec<Value> = routes.all().iter().map(|route| view(route)).collect();
    out.answer(&json!({ "routes": shown }), |_| {
        let row = |route: &Value| {
            ["name", "what", "when", "channel"].map(|key| route[key].as_str().unwrap_or_default().to_owned()).to_vec()
        };
        table(&shown.iter().map(row).collect::<Vec<_>>())
    });
    Ok(())
}

fn view(route: &Route) -> Value {
    let parts = route.parts();
    let what: Vec<&str> = parts.what.iter().map(|what| what.as_str()).collect();
    let pace = match parts.schedule.pace {
        Pace::Soon { .. } => "at once".to_owned(),
        Pace::Digest { every_minutes } => format!("every {every_minutes} min"),
        Pace::Escalation { after_minutes } => format!("if it still waits after {after_minutes} min"),
    };
    let quiet = if parts.schedule.quiet.is_some() { ", not in quiet hours" } else { "" };
    json!({
        "name": route.name().as_str(), "what": what.join(","), "when": format!("{pace}{quiet}"),
        "projects": parts.projects, "tiers": parts.tiers, "channel": parts.channel.shown(),
    })
}

async fn test(name: &str, who: &Who, out: &Out) -> Result<(), CliError> {
    let home = who.home()?;
    let settings = home.settings()?;
    let Some(route) = settings.notify.all().iter().find(|route| route.name().as_str() == name) else {
        return Err(CliError::new(Code::NotFound, format!("no route is called `{name}`"))
            .hint("`placet notify check` lists those that there are"));
    };
    let trials = route.test(&base(&settings, home.config()?.address), now()).await;
    let shown: Vec<Value> =
        trials.iter().map(|trial| json!({ "recipient": trial.recipient, "problem": trial.problem })).collect();
    out.answer(&json!({ "route": name, "trials": shown }), |_| trials.iter().map(said).collect::<Vec<_>>().join("\n"));
    if trials.iter().any(|trial| trial.problem.is_some()) {
        return Err(CliError::failed("not everybody could be told; what went wrong is said above"));
    }
    Ok(())
}

fn said(trial: &Trial) -> String {
    match &trial.problem {
        None => format!("{}: told", trial.recipient),
        Some(problem) => format!("{}: {problem}", trial.recipient),
    }
}

/// As `serve` begins its links.
fn base(settings: &Settings, address: std::net::SocketAddr) -> String {
    settings.public_url.as_ref().map_or_else(|| format!("http://{address}"), ToString::to_string)
}

fn now() -> Timestamp {
    Timestamp::from_unix_ms(jiff::Timestamp::now().as_millisecond())
}
