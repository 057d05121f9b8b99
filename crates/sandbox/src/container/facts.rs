//! What an engine says about itself, as far as a cage depends on it.

use serde_json::Value;

use super::api::Api;
use super::error::EngineError;
use crate::request::{HostUser, refusal};

/// The dialects of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Docker itself, and what behaves like it.
    Docker,
    /// The compatible service of Podman. It takes some settings in its own form, and some of Docker's not at all.
    Podman,
}

/// What a configuration depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineFacts {
    /// Its dialect.
    pub kind: EngineKind,
    /// Its version, for the reader.
    pub version: String,
    /// It has no rights of root: its containers are users of its own user.
    pub rootless: bool,
    /// It shows other users to the host than to its containers.
    pub remapped: bool,
    /// It applies filters of system calls.
    pub seccomp: bool,
    /// It limits memory and processes.
    pub limits: bool,
    /// Who calls it.
    pub caller: HostUser,
}

impl EngineFacts {
    pub(super) fn ask(api: &Api, caller: HostUser) -> Result<Self, EngineError> {
        Ok(Self::of(&api.version()?, &api.info()?, caller))
    }

    /// From the engine's own words; what it does not say, it does not have.
    #[must_use]
    pub fn of(version: &Value, info: &Value, caller: HostUser) -> Self {
        let components = version["Components"].as_array().into_iter().flatten();
        let podman = components.filter_map(|each| each["Name"].as_str()).any(|name| name.starts_with("Podman"));
        let options = || info["SecurityOptions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let has = |name: &str| options().any(|option| option.split(',').next() == Some(name));
        let able = |field: &str| info[field].as_bool().unwrap_or(false);
        let rootless = has("name=rootless") || able("Rootless");
        // Without rights of root there is nothing to limit with in version 1 of control groups, whatever else is said.
        let powerless = rootless && info["CgroupVersion"] == "1";
        Self {
            kind: if podman { EngineKind::Podman } else { EngineKind::Docker },
            version: version["Version"].as_str().unwrap_or("unknown").to_owned(),
            rootless,
            remapped: has("name=userns"),
            seccomp: has("name=seccomp"),
            limits: able("MemoryLimit") && able("PidsLimit") && !powerless,
            caller,
        }
    }
}

/// The id of an image, if it can be the root of a cage. Whatever its name means later, the id stays the same bytes.
pub(super) fn usable_image(name: &str, image: &Value) -> Result<String, EngineError> {
    let unusable = |why: String| EngineError::Image { image: name.to_owned(), why };
    let volumes = image["Config"]["Volumes"].as_object().into_iter().flatten().next();
    if let Some((place, _)) = volumes {
        return Err(unusable(format!("it declares the volume `{place}`, which would be writable without a limit")));
    }
    let variables = image["Config"]["Env"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names = variables.filter_map(|variable| variable.split('=').next());
    // The profile replaces these two.
    if let Some((variable, reason)) =
        names.filter(|name| !["PATH", "HOME"].contains(name)).find_map(|name| Some((name, refusal(name)?)))
    {
        return Err(unusable(format!("it sets the variable `{variable}`: {reason}")));
    }
    image["Id"].as_str().map(ToOwned::to_owned).ok_or_else(|| unusable("the engine tells no id for it".into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CALLER: HostUser = HostUser { uid: 0, gid: 0 };

    #[test]
    fn engines_are_told_apart_by_their_own_words() {
        let podman = json!({"Version": "4.3.1", "Components": [{"Name": "Podman Engine"}]});
        let info = json!({
            "SecurityOptions": ["name=seccomp,profile=default", "name=rootless"], "MemoryLimit": true, "PidsLimit": true
        });
        let facts = EngineFacts::of(&podman, &info, CALLER);
        assert_eq!((facts.kind, facts.rootless, facts.seccomp, facts.limits), (EngineKind::Podman, true, true, true));
        let old = json!({"Rootless": true, "CgroupVersion": "1", "MemoryLimit": true, "PidsLimit": true});
        assert!(!EngineFacts::of(&podman, &old, CALLER).limits);
        let facts = EngineFacts::of(&json!({}), &json!({"SecurityOptions": ["name=userns"]}), CALLER);
        assert_eq!((facts.kind, facts.remapped, facts.seccomp, facts.limits), (EngineKind::Docker, true, false, false));
    }

    #[test]
    fn images_that_would_undermine_a_cage_are_refused() {
        let image = |config: Value| usable_image("tools", &json!({"Id": "sha256:1", "Config": config}));
        assert_eq!(image(json!({"Volumes": null, "Env": ["PATH=/bin", "A=b"]})).expect("usable"), "sha256:1");
        for config in [json!({"Volumes": {"/data": {}}}), json!({"Env": ["LD_PRELOAD=/x.so"]})] {
            assert!(matches!(image(config.clone()), Err(EngineError::Image { .. })), "{config}");
        }
    }
}
