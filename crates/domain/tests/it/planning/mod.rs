//! Planning: from an intent to a plan that a person can approve (C7, steps 1 to 6).

mod choosing;
mod estimates;
mod examples;
mod intents;
mod properties;
mod templates;

use std::fmt::Debug;
use std::str::FromStr;
use std::sync::LazyLock;

use placet_domain::catalogue::Catalogue;
use placet_domain::planning::{Intent, Plan, PlanRefusal, Templates, plan};

use crate::catalogue::own;

/// What a text means, which a test knows to be well-formed.
pub(crate) fn the<T: FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().expect("well-formed")
}

/// What ships, and one agent of each of the three general kinds whose program is there.
static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let texts: Vec<(String, String)> = ["code_agent", "developer_agent", "browser_agent"]
        .into_iter()
        .map(|like| (format!("our_{like}.toml"), started(&own(&format!("our_{like}"), like))))
        .collect();
    Catalogue::with(texts.iter().map(|(file, text)| (file.as_str(), text.as_str()))).expect("entries")
});

static TEMPLATES: LazyLock<Templates> = LazyLock::new(Templates::default);

pub(crate) fn catalogue() -> &'static Catalogue {
    &CATALOGUE
}

/// An entry with a program.
pub(crate) fn started(text: &str) -> String {
    text.replace("speaks = \"placet-api\"", "speaks = \"placet-api\"\nprogram = \"/opt/agents/main\"")
}

pub(crate) fn templates() -> &'static Templates {
    &TEMPLATES
}

pub(crate) fn intent(goal: &str) -> Intent {
    Intent::new(the(goal))
}

pub(crate) fn planned(intent: &Intent) -> Plan {
    plan(intent, catalogue(), templates()).unwrap_or_else(|refusal| panic!("{refusal}"))
}

pub(crate) fn refused(intent: &Intent) -> PlanRefusal {
    plan(intent, catalogue(), templates()).expect_err("no plan")
}
