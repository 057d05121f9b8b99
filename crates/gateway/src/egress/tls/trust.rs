//! Whom is trusted about hosts: by the gateway, which checks them, and by the programs of a cage, which check the gateway. Models and
//! allowed hosts are checked in the same way.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{self, CertificateError, ClientConfig, RootCertStore};

/// Where hosts keep the certificates that everybody trusts, in one file.
const SYSTEM_BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadRoots {
    #[error("the certificates `{}` cannot be read", path.display())]
    Unread { path: PathBuf, source: std::io::Error },
    #[error("`{}` holds no certificate that can issue others; it has to be PEM", .0.display())]
    NoCertificate(PathBuf),
}

/// Whom the gateway believes about hosts: the roots that ship with it, and those that a team adds.
#[derive(Debug, Clone, Default)]
pub struct Roots(Vec<CertificateDer<'static>>);

impl Roots {
    /// Reads files of PEM, each with one certificate or more.
    pub fn read(files: &[PathBuf]) -> Result<Self, BadRoots> {
        let mut all = Self::default();
        for path in files {
            let text = std::fs::read(path).map_err(|source| BadRoots::Unread { path: path.clone(), source })?;
            all.add(&text).ok_or_else(|| BadRoots::NoCertificate(path.clone()))?;
        }
        Ok(all)
    }

    /// Those of a text.
    pub fn of_pem(text: &str) -> Option<Self> {
        let mut all = Self::default();
        all.add(text.as_bytes()).map(|()| all)
    }

    /// Adds every certificate of a text; none if one of them is no certificate, or there is none.
    fn add(&mut self, text: &[u8]) -> Option<()> {
        let found: Vec<_> = CertificateDer::pem_slice_iter(text).collect::<Result<_, _>>().ok()?;
        let is_root = |root: &CertificateDer<'_>| RootCertStore::empty().add(root.clone().into_owned()).is_ok();
        let fits = !found.is_empty() && found.iter().all(is_root);
        fits.then(|| self.0.extend(found))
    }

    /// Those of one file, and nobody else: not the roots that ship either.
    fn alone(path: &Path) -> Result<RootCertStore, BadRoots> {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(Self::read(&[path.to_owned()])?.0);
        Ok(store)
    }

    /// How the host itself checks whom it calls: by the roots that ship, or by those of one file alone.
    pub(crate) fn client<E: From<BadRoots> + From<rustls::Error>>(ca_file: Option<&Path>) -> Result<ClientConfig, E> {
        let roots = match ca_file {
            Some(path) => Self::alone(path)?,
            None => Self::default().store(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        Ok(config.with_root_certificates(roots).with_no_client_auth())
    }

    pub(super) fn store(self) -> RootCertStore {
        let mut store = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        store.add_parsable_certificates(self.0);
        store
    }
}

const OTHER: &str = "it is not acceptable";

/// Why a host is not believed, in our own words: a certificate can say anything.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "there are many ways to be wrong, and a person is told of the likely ones"
)]
pub(crate) fn distrusted(error: &rustls::Error) -> &'static str {
    let rustls::Error::InvalidCertificate(why) = error else { return "its tls is not acceptable" };
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "its certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name"
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is by nobody who is trusted"
        }
        CertificateError::Revoked => "its certificate was revoked",
        // What `openssl req -x509` makes: an issuer that shows itself.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "its certificate speaks for itself, and nobody who is trusted speaks for it"
        }
        _ => OTHER,
    }
}

/// The certificates of the host's system, for variables that replace what a program trusts; empty where there are none.
pub(in crate::egress) fn system_bundle() -> Vec<u8> {
    SYSTEM_BUNDLES.iter().find_map(|path| std::fs::read(Path::new(path)).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_certificate_is_told_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let (empty, absent) = (dir.path().join("empty.pem"), dir.path().join("absent.pem"));
        std::fs::write(&empty, "no certificate\n").unwrap();
        assert!(matches!(Roots::read(&[empty]), Err(BadRoots::NoCertificate(_))));
        assert!(matches!(Roots::read(&[absent]), Err(BadRoots::Unread { .. })));
        assert!(Roots::read(&[]).is_ok());
    }
}
