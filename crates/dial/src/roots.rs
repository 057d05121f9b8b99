//! Root certificates by which the TLS certificates of hosts are checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{self, CertificateError, ClientConfig, RootCertStore};

/// Root certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    #[error("the certificates `{}` cannot be read", path.display())]
    Unread { path: PathBuf, source: std::io::Error },
    #[error("`{}` holds no certificate that can issue others; it has to be PEM", .0.display())]
    NoCertificate(PathBuf),
}

/// Root certificates of a team, beside the public roots that ship with the binary.
#[derive(Debug, Clone, Default)]
pub struct Roots(Vec<CertificateDer<'static>>);

impl Roots {
    /// Reads PEM files, each with at least one certificate.
    pub fn read(files: &[PathBuf]) -> Result<Self, RootsError> {
        let mut all = Self::default();
        for path in files {
            let text = std::fs::read(path).map_err(|source| RootsError::Unread { path: path.clone(), source })?;
            all.add(&text).ok_or_else(|| RootsError::NoCertificate(path.clone()))?;
        }
        Ok(all)
    }

    /// Parses PEM text; `None` if it holds no certificate, or a bad one.
    pub fn of_pem(text: &str) -> Option<Self> {
        let mut all = Self::default();
        all.add(text.as_bytes()).map(|()| all)
    }

    /// Adds every certificate of the text; adds nothing and returns `None` if there is none, or a bad one.
    fn add(&mut self, text: &[u8]) -> Option<()> {
        let found: Vec<_> = CertificateDer::pem_slice_iter(text).collect::<Result<_, _>>().ok()?;
        let is_root = |root: &CertificateDer<'_>| RootCertStore::empty().add(root.clone().into_owned()).is_ok();
        let fits = !found.is_empty() && found.iter().all(is_root);
        fits.then(|| self.0.extend(found))
    }

    /// Reads the roots of one file, without the public ones.
    fn only(path: &Path) -> Result<RootCertStore, RootsError> {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(Self::read(&[path.to_owned()])?.0);
        Ok(store)
    }

    /// Builds the TLS settings of a client: with the public roots, or only with those of `ca_file`.
    pub fn client<E: From<RootsError> + From<rustls::Error>>(ca_file: Option<&Path>) -> Result<ClientConfig, E> {
        let roots = match ca_file {
            Some(path) => Self::only(path)?,
            None => Self::default().with_public(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        Ok(config.with_root_certificates(roots).with_no_client_auth())
    }

    /// Joins the team's roots with the public ones.
    pub fn with_public(self) -> RootCertStore {
        let mut store = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        store.add_parsable_certificates(self.0);
        store
    }
}

/// Explanation of every rare error.
const OTHER: &str = "it is not acceptable";

/// Explains why the certificate of a host was refused. Repeats nothing of the certificate, which can hold any text.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "there are many errors; the likely ones have an explanation of their own"
)]
pub fn explain_tls_error(error: &rustls::Error) -> &'static str {
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
        // `openssl req -x509` makes such a certificate: an issuer that presents itself.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "its certificate speaks for itself, and nobody who is trusted speaks for it"
        }
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_certificate_is_told_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let (empty, absent) = (dir.path().join("empty.pem"), dir.path().join("absent.pem"));
        std::fs::write(&empty, "no certificate\n").unwrap();
        assert!(matches!(Roots::read(&[empty]), Err(RootsError::NoCertificate(_))));
        assert!(matches!(Roots::read(&[absent]), Err(RootsError::Unread { .. })));
        assert!(Roots::read(&[]).is_ok());
    }
}
