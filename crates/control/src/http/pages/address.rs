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
    is_for_tls_alone: bool,
    /// The name that the settings say, where somebody came by another one.
    public: Option<String>,
}

impl Address {
    /// Nothing for a name that is not ours.
    pub(super) fn of(host: &str, public: Option<&PublicUrl>) -> Option<Self> {
        if let Some(public) = public.filter(|public| public.is_host(host)) {
            let (is_secure, is_for_tls_alone) = (public.is_secure(), public.is_for_tls_alone());
            return Some(Self { origin: public.to_string(), is_secure, is_for_tls_alone, public: None });
        }
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => host,
        };
        let public = public.map(ToString::to_string);
        is_this_machine(name).then(|| Self { public, ..Self::plain(format!("http://{host}")) })
    }

    /// Of somebody who asks by something else than a browser: no passkey can be used there.
    pub(in crate::http) const fn without_browser() -> Self {
        Self::plain(String::new())
    }

    const fn plain(origin: String) -> Self {
        Self { origin, is_secure: false, is_for_tls_alone: false, public: None }
    }

    /// As browsers write it, without a slash at its end.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// The name that everybody is told, if it is another one than this.
    pub(super) fn public(&self) -> Option<&str> {
        self.public.as_deref()
    }

    /// What a cookie has besides: one that was given over TLS never goes over anything else.
    pub(super) const fn cookie_end(&self) -> &'static str {
        if self.is_secure { "; Secure" } else { "" }
    }

    /// What a cookie is called here. Browsers take one whose name begins like this over TLS and from this very name alone: neighbours
    /// under the same domain, and whoever answers without TLS, cannot set it. Such a cookie has `Secure` and `Path=/`, and no domain.
    pub(super) fn cookie_name(&self, name: &str) -> String {
        if self.is_secure { format!("__Host-{name}") } else { name.to_owned() }
    }

    pub(super) const fn is_for_tls_alone(&self) -> bool {
        self.is_for_tls_alone
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Address {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Failure::unguarded)
    }
}
