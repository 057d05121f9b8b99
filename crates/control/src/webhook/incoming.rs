//! Who may propose by a signed request, and as which agent.

use placet_domain::id::IdentityId;

use super::{HookName, HookSecret};

/// A sender that acts as one agent identity, and as nobody else.
#[derive(Debug)]
pub struct IncomingHook {
    name: HookName,
    secret: HookSecret,
    identity: IdentityId,
}

impl IncomingHook {
    pub const fn new(name: HookName, secret: HookSecret, identity: IdentityId) -> Self {
        Self { name, secret, identity }
    }

    pub const fn name(&self) -> &HookName {
        &self.name
    }

    pub(crate) const fn secret(&self) -> &HookSecret {
        &self.secret
    }

    pub(crate) const fn identity(&self) -> IdentityId {
        self.identity
    }
}
