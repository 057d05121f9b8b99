//! Under which of our names somebody came: one of this machine, or the one that the settings name. What a proxy adds of its own
//! (`Forwarded` and the like) is not believed, because anybody can write it; that TLS is spoken before us follows from the name alone.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};

use super::caller::single;
use super::problem::Failure;
use crate::public_url::{PublicUrl, is_this_machine};

/// Origin under which a browser reached the server. Whoever authenticates browsers puts it into the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    origin: String,
    is_secure: bool,
    is_for_tls_alone: bool,
    /// The name that the settings say, where somebody came by another one.
    public: Option<String>,
}

impl Address {
    /// Nothing for a name that is not ours.
    pub fn of(host: &str, public: Option<&PublicUrl>) -> Option<Self> {
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

    const fn plain(origin: String) -> Self {
        Self { origin, is_secure: false, is_for_tls_alone: false, public: None }
    }

    /// As browsers write it, without a slash at its end.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The name that everybody is told, if it is another one than this.
    pub fn public(&self) -> Option<&str> {
        self.public.as_deref()
    }

    /// What a cookie has besides: one that was given over TLS never goes over anything else.
    pub const fn cookie_end(&self) -> &'static str {
        if self.is_secure { "; Secure" } else { "" }
    }

    /// What a cookie is called here. Browsers take one whose name begins like this over TLS and from this very name alone: neighbours
    /// under the same domain, and whoever answers without TLS, cannot set it. Such a cookie has `Secure` and `Path=/`, and no domain.
    pub fn cookie_name(&self, name: &str) -> String {
        if self.is_secure { format!("__Host-{name}") } else { name.to_owned() }
    }

    pub const fn is_for_tls_alone(&self) -> bool {
        self.is_for_tls_alone
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Address {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Failure::unguarded)
    }
}

/// Refusal of a foreign host name, which an attacker could use to make a browser or a program take this server for theirs.
pub fn foreign_host() -> Failure {
    let why = "this control plane answers to localhost, addresses of loopback and the `public_url` of the settings only; from elsewhere, come through a tunnel";
    Failure::new(StatusCode::MISDIRECTED_REQUEST, "bad_host", why)
}

/// Refuses requests for a foreign host name, for every route. If an attacker points their name at this address (DNS rebinding), a browser
/// treats their page as same-origin with us. A loopback address cannot be rebound, and a request without a host does not come from a
/// browser.
pub(super) fn needs_own_host(request: &Request, public: Option<&PublicUrl>) -> Result<(), Failure> {
    match single(request.headers(), &header::HOST)? {
        Some(host) if is_loopback(host) => Ok(()),
        Some(host) => Address::of(host, public).map(drop).ok_or_else(foreign_host),
        None => Ok(()),
    }
}

/// True if the host is a loopback address in digits, with or without a port.
fn is_loopback(host: &str) -> bool {
    let socket = host.parse::<SocketAddr>().map(|socket| socket.ip());
    socket
        .or_else(|_| host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>())
        .is_ok_and(|ip| ip.is_loopback())
}
