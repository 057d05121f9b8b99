//! An intent on the command line: a goal and a few options, or a whole one from a file.

use std::path::PathBuf;

use placet_domain::planning::{Intent, PlanRefusal};
use placet_domain::run::Mode;

use crate::error::{CliError, Code};
use crate::home::read;

#[derive(Debug, clap::Args)]
pub(crate) struct IntentArgs {
    /// What shall be done
    #[arg(required_unless_present = "intent", conflicts_with = "intent")]
    goal: Option<String>,
    /// A file with the whole intent, as TOML
    #[arg(long, value_name = "FILE", conflicts_with_all = ["template", "mode", "targets", "tools"])]
    intent: Option<PathBuf>,
    /// A template, as `placet catalog list` names it
    #[arg(long, value_name = "ID")]
    template: Option<String>,
    /// When a person is asked (default: SUPERVISED, every action asks, because nobody wrote these steps)
    #[arg(long, value_name = "MODE", value_parser = ["SIMULATION", "SUPERVISED", "CHECKPOINT"], ignore_case = true)]
    mode: Option<String>,
    /// A host, network or address that has to be reached
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    /// A tool that is needed
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
}

impl IntentArgs {
    /// Whether somebody said how often it asks.
    pub(crate) const fn says_mode(&self) -> bool {
        self.mode.is_some() || self.intent.is_some()
    }

    /// What is wanted; `entry` is the agent of the catalogue that was asked for, if one was.
    pub(crate) fn intent(&self, entry: Option<&str>) -> Result<Intent, CliError> {
        let mut intent = match &self.intent {
            Some(path) => {
                let wrong = |error: toml::de::Error| CliError::usage(format!("`{}`: {error}", path.display()));
                toml::from_str(&read(path)?).map_err(wrong)?
            }
            None => self.by_options()?,
        };
        if let Some(entry) = entry {
            intent.agent = Some(well_formed(entry)?);
        }
        Ok(intent)
    }

    fn by_options(&self) -> Result<Intent, CliError> {
        let mut intent = Intent::new(well_formed(self.goal.as_deref().unwrap_or_default())?);
        intent.template = self.template.as_deref().map(well_formed).transpose()?;
        intent.constraints.targets = self.targets.iter().map(|text| well_formed(text)).collect::<Result<_, _>>()?;
        intent.constraints.tools = self.tools.iter().map(|text| well_formed(text)).collect::<Result<_, _>>()?;
        let wanted = |mode: &&Mode| self.mode.as_ref().is_some_and(|text| text.eq_ignore_ascii_case(mode.as_str()));
        intent.mode = Mode::ALL.iter().find(wanted).copied().unwrap_or(intent.mode);
        Ok(intent)
    }
}

fn well_formed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, CliError> {
    text.parse().map_err(|error: T::Err| CliError::usage(error.to_string()))
}

pub(crate) fn refused(refusal: PlanRefusal) -> CliError {
    let code = match refusal {
        PlanRefusal::Intent(_) | PlanRefusal::TooLarge { .. } => Code::Usage,
        PlanRefusal::UnknownTemplate { .. } => Code::NotFound,
        PlanRefusal::NobodyFits { .. } => Code::Refused,
    };
    CliError::new(code, refusal.to_string())
}
