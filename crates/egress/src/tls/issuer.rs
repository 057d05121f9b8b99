//! Who issues certificates for the hosts that are opened: one issuer for one way out, made in memory and gone with it. It
//! speaks for the hosts it was made for and for nobody else, and neither of its keys is ever written down.
//!
//! Whoever measures or tries something uses one for hosts of their own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use placet_domain::scope::Place;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::TlsError;
use super::certificate::{self, Key, Validity};
use crate::rules::Rule;

/// As long as the longest cage, and a day.
const ISSUER_LASTS: Duration = Duration::from_secs(31 * 24 * 3_600);
/// Clients that check it do so at once; a new one is made long before it runs out.
const SERVER_LASTS: Duration = Duration::from_secs(24 * 3_600);
const RENEWED_AFTER: Duration = Duration::from_secs(12 * 3_600);
/// Clocks in cages are the host's; this is for those who round.
const BACKDATED: Duration = Duration::from_secs(3_600);
/// Certificates that are kept. Below a domain an agent chooses the names, and could ask for any number of them.
const MOST_KEPT: usize = 64;

pub struct Issuer {
    key: Key,
    certificate: Vec<u8>,
    /// All servers share one: it is as secret as the issuer's own.
    server_key: Key,
    rules: Vec<Rule>,
    kept: Mutex<BTreeMap<Place, Kept>>,
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer").field("rules", &self.rules).finish_non_exhaustive()
    }
}

struct Kept {
    config: Arc<rustls::ServerConfig>,
    made_at: SystemTime,
}

impl Issuer {
    /// For the hosts of these rules.
    pub fn make(rules: Vec<Rule>, now: SystemTime) -> Result<Self, TlsError> {
        let (key, server_key) = (Key::make()?, Key::make()?);
        let mut hosts: Vec<_> = rules.iter().map(|rule| &rule.draft().host).collect();
        hosts.dedup();
        let certificate = certificate::issuing(&key, &hosts, lasting(now, ISSUER_LASTS))?;
        Ok(Self { key, certificate, server_key, rules, kept: Mutex::default() })
    }

    /// Its certificate, for those who are to trust it.
    pub fn pem(&self) -> String {
        let encoded = STANDARD.encode(&self.certificate);
        let lines: Vec<_> = encoded.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }

    /// How to answer in the place of the host; none for a host that it does not speak for.
    pub fn answering(&self, host: &Place, now: SystemTime) -> Option<Arc<rustls::ServerConfig>> {
        if !self.rules.iter().any(|rule| rule.covers_place(host)) {
            return None;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |kept: &Kept| now.duration_since(kept.made_at).is_ok_and(|age| age < RENEWED_AFTER);
        if let Some(known) = kept.get(host).filter(|known| is_fresh(known)) {
            return Some(Arc::clone(&known.config));
        }
        let config = self.mint(host, now).ok()?;
        make_room(&mut kept);
        kept.insert(host.clone(), Kept { config: Arc::clone(&config), made_at: now });
        Some(config)
    }

    fn mint(&self, host: &Place, now: SystemTime) -> Result<Arc<rustls::ServerConfig>, TlsError> {
        let certificate = certificate::serving(&self.key, &self.server_key, host, lasting(now, SERVER_LASTS))?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.server_key.pkcs8().to_vec()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(certificate)], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn lasting(now: SystemTime, time: Duration) -> Validity {
    Validity { from: now - BACKDATED, until: now + time }
}

/// The oldest goes; it is made anew when it is asked for again.
fn make_room(kept: &mut BTreeMap<Place, Kept>) {
    while kept.len() >= MOST_KEPT {
        let Some(oldest) = kept.iter().min_by_key(|(_, kept)| kept.made_at).map(|(host, _)| host.clone()) else {
            return;
        };
        kept.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Speaks;

    fn issuer(hosts: &[&str]) -> Issuer {
        let rule = |host: &&str| Rule::new(host.parse().unwrap(), Speaks::Https);
        Issuer::make(hosts.iter().map(rule).collect(), SystemTime::now()).unwrap()
    }

    /// Whether a client that trusts the issuer accepts what it is answered with.
    async fn accepts(issuer: &Issuer, config: Arc<rustls::ServerConfig>, host: &str) -> bool {
        let (inside, outside) = tokio::io::duplex(1 << 16);
        let answered = tokio_rustls::TlsAcceptor::from(config).accept(outside);
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from(issuer.certificate.clone())).unwrap();
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = rustls::pki_types::ServerName::try_from(host.to_owned()).unwrap();
        let asked = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, inside);
        let (_, accepted) = tokio::join!(answered, asked);
        accepted.is_ok()
    }

    #[tokio::test]
    async fn clients_accept_the_hosts_of_the_rules_and_nobody_else_of_the_same_issuer() {
        let issuer = issuer(&["api.test", "*.below.test", "10.0.0.0/8", "::1"]);
        let now = SystemTime::now();
        for host in ["api.test", "a.below.test", "10.1.2.3", "::1"] {
            assert!(accepts(&issuer, issuer.mint(&place(host), now).unwrap(), host).await, "{host}");
        }
        for host in ["evil.test", "11.0.0.1", "::2"] {
            assert!(!accepts(&issuer, issuer.mint(&place(host), now).unwrap(), host).await, "{host}");
        }
        let old = issuer.mint(&place("api.test"), now - Duration::from_secs(48 * 3_600)).unwrap();
        assert!(!accepts(&issuer, old, "api.test").await, "nor for longer than a day");
    }

    #[tokio::test]
    async fn an_issuer_for_names_speaks_for_no_address_and_one_for_addresses_for_no_name() {
        let (names, addresses) = (issuer(&["api.test"]), issuer(&["10.0.0.1"]));
        let now = SystemTime::now();
        assert!(!accepts(&names, names.mint(&place("10.0.0.1"), now).unwrap(), "10.0.0.1").await);
        assert!(!accepts(&addresses, addresses.mint(&place("api.test"), now).unwrap(), "api.test").await);
        assert!(accepts(&addresses, addresses.mint(&place("10.0.0.1"), now).unwrap(), "10.0.0.1").await);
    }

    fn place(text: &str) -> Place {
        text.parse().map_or_else(|_| text.parse().unwrap(), Place::At)
    }

    #[test]
    fn certificates_are_made_for_the_hosts_of_the_rules_and_for_nobody_else() {
        let issuer = issuer(&["api.test", "*.below.test", "10.0.0.0/8", "::1"]);
        let now = SystemTime::now();
        for host in ["api.test", "a.below.test", "10.1.2.3", "::1"] {
            assert!(issuer.answering(&place(host), now).is_some(), "{host}");
        }
        for host in ["evil.test", "sub.api.test", "below.test", "11.0.0.1", "::2"] {
            assert!(issuer.answering(&place(host), now).is_none(), "{host}");
        }
    }

    #[test]
    fn no_more_certificates_are_kept_than_there_is_room_for() {
        let issuer = issuer(&["*.below.test"]);
        let now = SystemTime::now();
        for number in 0..MOST_KEPT + 10 {
            assert!(issuer.answering(&place(&format!("n{number}.below.test")), now).is_some());
        }
        assert_eq!(issuer.kept.lock().unwrap().len(), MOST_KEPT);
    }

    #[test]
    fn a_certificate_is_used_again_until_it_is_half_old() {
        let issuer = issuer(&["api.test"]);
        let now = SystemTime::now();
        let at = |later: Duration| issuer.answering(&place("api.test"), now + later).unwrap();
        let first = at(Duration::ZERO);
        assert!(Arc::ptr_eq(&first, &at(RENEWED_AFTER - Duration::from_secs(1))));
        assert!(!Arc::ptr_eq(&first, &at(RENEWED_AFTER)));
    }

    #[test]
    fn each_way_out_has_an_issuer_of_its_own() {
        assert_ne!(issuer(&["api.test"]).pem(), issuer(&["api.test"]).pem());
    }
}
