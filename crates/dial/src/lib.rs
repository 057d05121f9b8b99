//! Outgoing connections: which addresses may be called, whose certificates are believed, and which secrets go along.
//!
//! The host itself calls receivers of webhooks, chats, mail servers and sign-on providers with a [`Dialer`]. The other modules are what
//! the model gateway (`placet-llm`) and the proxy of cages (`placet-egress`) have in common with it: [`address`] checks, name
//! resolution ([`Resolve`]), TLS roots ([`Roots`]), secrets ([`KeySource`], [`Secret`]), and [`Scrubber`], which covers a secret that an
//! answer repeats. [`WriteTimeout`] closes connections whose other side reads nothing.
//!
//! This crate decides nothing: callers say which networks are listed, which file holds the roots and where a key is found.

pub mod address;
mod dialer;
mod resolve;
mod roots;
mod scrub;
mod secret;
mod write_timeout;

pub use dialer::{
    Connection, DialError, Dialer, DialerSetupError, Duplex, FetchError, FetchRequest, TargetUrl, TargetUrlError,
};
pub use resolve::{Resolve, ResolveFuture, SystemResolver};
pub use roots::{Roots, RootsError, explain_tls_error};
pub use scrub::{MIN_SECRET_BYTES, Scrubber};
pub use secret::{KeySource, Secret, SecretError};
pub use write_timeout::WriteTimeout;
