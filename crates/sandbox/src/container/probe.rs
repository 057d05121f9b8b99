//! What an engine enforces: its own words for the reader, and one container from end to end for the verdict.

use super::{Engine, EngineKind};
use crate::backend::Backend;
use crate::outcome::Exit;
use crate::probe::{HostReport, Tier, check, with_causes};
use crate::profile::Profile;
use crate::request::Request;

pub(super) fn report(engine: &Engine) -> HostReport {
    let facts = engine.facts();
    let kind = match facts.kind {
        EngineKind::Docker => "Docker",
        EngineKind::Podman => "Podman",
    };
    let trial = trial(engine);
    let checks = vec![
        check("engine", true, format!("{kind} {}", facts.version), "start it"),
        check("seccomp", facts.seccomp, "the filter of the cage, in the engine's format".into(), "use another engine"),
        check("limits", facts.limits, "memory and processes of the whole container".into(), LIMITS_TODO),
        check(
            "container",
            trial.is_ok(),
            trial.clone().err().unwrap_or_else(|| "entered and left".into()),
            "what is missing above comes first",
        ),
    ];
    HostReport { tier: tier(trial, facts.limits), checks }
}

const LIMITS_TODO: &str = "run the engine as root, or use cgroup v2";

fn trial(engine: &Engine) -> Result<(), String> {
    let profile = Profile::builtin("default").ok_or("the default profile is missing")?;
    let outcome = engine.launch(&profile, Request::new(["true"])).and_then(|running| running.wait());
    match outcome.map(|outcome| outcome.exit) {
        Ok(Exit::Code(0)) => Ok(()),
        Ok(other) => Err(format!("the trial command ended unexpectedly: {other:?}")),
        Err(error) => Err(with_causes(&error)),
    }
}

/// Never the full one: there is no Landlock in a container, and no limit of processes that names itself.
fn tier(trial: Result<(), String>, limits: bool) -> Tier {
    let weaker = "containers have no Landlock, and processor time and disk are looked at twice a second".to_owned();
    let unlimited = format!("the engine does not limit memory and processes: {LIMITS_TODO}");
    match (trial, limits) {
        (Err(reason), _) => Tier::Unavailable { reason },
        (Ok(()), true) => Tier::Degraded { reasons: vec![weaker] },
        (Ok(()), false) => Tier::Degraded { reasons: vec![weaker, unlimited] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_is_never_reported_as_everything_a_cage_is() {
        assert!(matches!(tier(Ok(()), true), Tier::Degraded { reasons } if reasons.len() == 1));
        assert!(matches!(tier(Ok(()), false), Tier::Degraded { reasons } if reasons.len() == 2));
        assert_eq!(tier(Err("no".into()), true), Tier::Unavailable { reason: "no".into() });
    }
}
