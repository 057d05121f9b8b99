//! Who a command is: never root, neither inside nor on the host.

use super::unsupported;
use crate::container::facts::{EngineFacts, EngineKind};
use crate::error::SandboxError;
use crate::plan::CAGE_USER;
use crate::request::{HostUser, Request, RequestError};

pub(super) struct Identity {
    pub(super) inside: HostUser,
    /// How the engine shows users of the host inside, where that is not its own business.
    pub(super) namespace: Option<String>,
}

/// An engine that is root shows users as they are on the host, so an ordinary caller's command is the caller, who owns
/// the workspace. Podman without rights can show its own user as another one; Docker without rights cannot.
pub(super) fn of(request: &Request, facts: &EngineFacts) -> Result<Identity, SandboxError> {
    let as_is = |inside: HostUser| match inside.is_root() {
        true => Err(RequestError::RootUser.into()),
        false => Ok(Identity { inside, namespace: None }),
    };
    match (facts.rootless || facts.remapped, facts.kind) {
        (false, _) if facts.caller.uid != 0 => as_is(facts.caller),
        (false, _) => as_is(request.host_user.unwrap_or(CAGE_USER)),
        (true, EngineKind::Podman) if facts.rootless => {
            let HostUser { uid, gid } = CAGE_USER;
            Ok(Identity { inside: CAGE_USER, namespace: Some(format!("keep-id:uid={uid},gid={gid}")) })
        }
        (true, _) if request.workspace.is_none() => as_is(CAGE_USER),
        (true, _) => Err(unsupported(
            "a workspace, because this engine shows it as somebody else's".into(),
            "use an engine that runs as root without remapped users, Podman, or the cage of namespaces",
        )),
    }
}
