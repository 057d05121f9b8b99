//! Under which of our names somebody came: one of this machine, or the one that the settings name. What a proxy adds of its own
//! (`Forwarded` and the like) is not believed, because anybody can write it; that TLS is spoken before us follows from the name alone.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::super::problem::Failure;
use crate::public_url::{PublicUrl, is_this_machine};

/// Put into a request by the guard and by nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) struct Address {
    origin: String,
    is_secure: bool,
}

impl Address {
    /// Nothing for a name that is not ours.
    pub(super) fn of(host: &str, public: Option<&PublicUrl>) -> Option<Self> {
        if let Some(public) = public.filter(|public| public.is_host(host)) {
            return Some(Self { origin: public.to_string(), is_secure: public.is_secure() });
        }
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => host,
        };
        is_this_machine(name).then(|| Self { origin: format!("http://{host}"), is_secure: false })
    }

    /// Of somebody who asks by something else than a browser: no passkey can be used there.
    pub(in crate::http) const fn without_browser() -> Self {
        Self { origin: String::new(), is_secure: false }
    }

    /// As browsers write it, without a slash at its end.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// What a cookie has besides: one that was given over TLS never goes over anything else.
    pub(super) const fn cookie_end(&self) -> &'static str {
        if self.is_secure { "; Secure" } else { "" }
    }

    pub(super) const fn is_secure(&self) -> bool {
        self.is_secure
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Address {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Failure::unguarded)
    }
}
