//! Single sign-on by a provider of OpenID Connect: the settings of it, and what is fetched from it.
//!
//! All of this comes from the host's settings and is fixed while the control plane runs; no route reads or changes it. What a provider
//! publishes is fetched when somebody signs on, kept for a while, and fetched again, not too often, when it signs with a key that is
//! not known yet. Whether a token is believed is decided in [`placet_domain::oidc`].

mod provider;
mod trip;

pub use provider::{BadProvider, NotSignedOn, Provider, ProviderSettings, SignOn};
pub use trip::{Trip, Trips};
