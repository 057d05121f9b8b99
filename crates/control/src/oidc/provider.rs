//! A provider: what the settings say of it, what it publishes of itself, and the exchange of a code for a token.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use form_urlencoded::{Serializer, byte_serialize};
use placet_dial::{Dialer, DialerSetupError, FetchError, FetchRequest, TargetUrl, TargetUrlError};
use placet_domain::oidc::{BadPeople, Expected, Keys, KnownPeople, KnownPerson, TokenFlaw, Vouched, verify};
use placet_domain::scope::Network;
use placet_domain::time::Timestamp;
use serde::Deserialize;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::trip::Trip;

/// After so long what a provider publishes is fetched anew.
const KEPT: Duration = Duration::from_secs(3_600);
/// Keys that nobody knows make us ask again, but not more often than this: anybody can come with one.
const BETWEEN_FETCHES: Duration = Duration::from_secs(60);
const LONGEST_CODE: usize = 2_048;

/// A provider that does not answer is not asked again for everybody who would like to sign on.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// What an operator says of it.
#[expect(missing_debug_implementations, reason = "it holds a secret that no log may show")]
pub struct ProviderSettings {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Zeroizing<String>,
    /// What people call it: on the button.
    pub name: String,
    pub people: Vec<KnownPerson>,
    /// Private networks that it may be in.
    pub networks: Vec<Network>,
    pub ca_file: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum BadProvider {
    #[error("the issuer: {0}")]
    Issuer(#[from] TargetUrlError),
    #[error("`{0}` does not end as an issuer is written: without a query")]
    Query(String),
    #[error("`client_id` and the client secret must not be empty")]
    Nameless,
    #[error(transparent)]
    People(#[from] BadPeople),
    #[error(transparent)]
    Dialer(#[from] DialerSetupError),
}

/// Why nobody was let in.
#[derive(Debug, thiserror::Error)]
pub enum NotSignedOn {
    #[error("the provider: {0}")]
    Fetched(#[from] FetchError),
    #[error("what the provider publishes cannot be read, or is not about itself")]
    Published,
    #[error("what the provider answered cannot be read")]
    Answer,
    #[error("the provider did not answer a moment ago")]
    Lately,
    #[error("the token is not believed: {0}")]
    Token(#[from] TokenFlaw),
    #[error("the provider vouches for somebody whom the settings do not name")]
    Nobody,
}

/// A provider that people sign on by.
pub struct Provider {
    issuer: String,
    discovery: TargetUrl,
    client_id: String,
    client_secret: Zeroizing<String>,
    name: String,
    people: KnownPeople,
    dialer: Dialer,
    known: Mutex<Known>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// What was fetched of it.
#[derive(Debug, Default)]
struct Known {
    published: Option<Published>,
    failed: Option<Instant>,
}

/// What it says of itself.
#[derive(Debug, Clone)]
struct Published {
    /// Where browsers go; as it was written.
    authorize: String,
    token: TargetUrl,
    jwks: TargetUrl,
    keys: Keys,
    fetched: Instant,
    /// When its keys were looked at once more, because one was not among them.
    looked_again: Option<Instant>,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
}

#[derive(Deserialize)]
struct Answer {
    id_token: String,
}

/// What somebody who comes back brings.
#[derive(Debug)]
pub struct SignOn<'s> {
    pub code: &'s str,
    pub redirect_uri: &'s str,
    pub now: Timestamp,
}

impl Provider {
    pub fn new(settings: ProviderSettings) -> Result<Self, BadProvider> {
        let ProviderSettings { issuer, client_id, client_secret, name, people, networks, ca_file } = settings;
        if issuer.contains('?') {
            return Err(BadProvider::Query(issuer));
        }
        if client_id.is_empty() || client_secret.is_empty() {
            return Err(BadProvider::Nameless);
        }
        let discovery = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/')).parse()?;
        Ok(Self {
            issuer,
            discovery,
            client_id,
            client_secret,
            name,
            people: KnownPeople::new(people)?,
            dialer: Dialer::new(ca_file.as_deref(), networks)?,
            known: Mutex::default(),
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where a browser goes to be asked who its person is.
    pub async fn authorize(&self, trip: &Trip, redirect_uri: &str) -> Result<String, NotSignedOn> {
        let to = self.published().await?.authorize;
        let query = form(&[
            ("response_type", "code"),
            ("scope", "openid email"),
            ("client_id", &self.client_id),
            ("redirect_uri", redirect_uri),
            ("state", &trip.state()),
            ("nonce", &trip.nonce()),
            ("code_challenge", &trip.challenge()),
            ("code_challenge_method", "S256"),
        ]);
        let joint = if to.contains('?') { '&' } else { '?' };
        Ok(format!("{to}{joint}{query}"))
    }

    /// Whom the provider vouches for, by the code that somebody came back with.
    pub async fn sign_on(&self, trip: &Trip, back: &SignOn<'_>) -> Result<Vouched, NotSignedOn> {
        let published = self.published().await?;
        let token = self.exchange(&published.token, trip, back).await?;
        let nonce = trip.nonce();
        let expected = Expected { issuer: &self.issuer, client_id: &self.client_id, nonce: &nonce, now: back.now };
        let claims = match verify(&token, &published.keys, &expected) {
            // It may have new keys since: one more look.
            Err(TokenFlaw::UnknownKey) => verify(&token, &self.newest_keys().await?, &expected)?,
            other => other?,
        };
        self.people.find(&claims, back.now).ok_or(NotSignedOn::Nobody)
    }

    async fn exchange(&self, to: &TargetUrl, trip: &Trip, back: &SignOn<'_>) -> Result<String, NotSignedOn> {
        if back.code.len() > LONGEST_CODE {
            return Err(NotSignedOn::Answer);
        }
        let body = form(&[
            ("grant_type", "authorization_code"),
            ("code", back.code),
            ("redirect_uri", back.redirect_uri),
            ("code_verifier", &trip.verifier()),
        ]);
        let ask = FetchRequest::Form { body, authorization: self.authorization() };
        let answer = self.dialer.fetch(to, ask).await?;
        let answer: Answer = serde_json::from_slice(&answer).map_err(|_| NotSignedOn::Answer)?;
        Ok(answer.id_token)
    }

    /// Who we are, as RFC 6749 (2.3.1) writes it: both parts encoded as in a form first.
    fn authorization(&self) -> Zeroizing<String> {
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let pair = Zeroizing::new(format!("{}:{}", encoded(&self.client_id), encoded(&self.client_secret)));
        Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())))
    }

    async fn published(&self) -> Result<Published, NotSignedOn> {
        let mut known = self.known.lock().await;
        if let Some(published) = known.published.as_ref().filter(|published| published.fetched.elapsed() < KEPT) {
            return Ok(published.clone());
        }
        if known.failed.is_some_and(|at| at.elapsed() < AFTER_FAILURE) {
            return Err(NotSignedOn::Lately);
        }
        let discovered = self.discover().await;
        known.failed = discovered.is_err().then(Instant::now);
        Ok(known.published.insert(discovered?).clone())
    }

    /// The document at the issuer's own address, about itself; a provider over TLS names no address without.
    async fn discover(&self) -> Result<Published, NotSignedOn> {
        let document = self.dialer.fetch(&self.discovery, FetchRequest::Document).await?;
        let said: Discovery = serde_json::from_slice(&document).map_err(|_| NotSignedOn::Published)?;
        if said.issuer != self.issuer {
            return Err(NotSignedOn::Published);
        }
        let address = |text: &str| {
            let address: TargetUrl = text.parse().map_err(|_| NotSignedOn::Published)?;
            let fits = address.is_secure() == self.discovery.is_secure();
            if fits { Ok(address) } else { Err(NotSignedOn::Published) }
        };
        let jwks = address(&said.jwks_uri)?;
        address(&said.authorization_endpoint)?;
        Ok(Published {
            authorize: said.authorization_endpoint,
            token: address(&said.token_endpoint)?,
            keys: self.keys(&jwks).await?,
            jwks,
            fetched: Instant::now(),
            looked_again: None,
        })
    }

    async fn keys(&self, jwks: &TargetUrl) -> Result<Keys, NotSignedOn> {
        let keys = self.dialer.fetch(jwks, FetchRequest::Document).await?;
        Keys::read(&keys).map_err(|_| NotSignedOn::Published)
    }

    /// The keys as they are now, unless somebody made us look a moment ago.
    async fn newest_keys(&self) -> Result<Keys, NotSignedOn> {
        let mut known = self.known.lock().await;
        let Some(published) = known.published.as_mut() else { return Err(NotSignedOn::Published) };
        if published.looked_again.is_none_or(|at| at.elapsed() >= BETWEEN_FETCHES) {
            published.looked_again = Some(Instant::now());
            published.keys = self.keys(&published.jwks).await?;
        }
        Ok(published.keys.clone())
    }
}

fn form(pairs: &[(&str, &str)]) -> String {
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}
