//! Certificates as a company issues them, made by `openssl`, and TLS servers that present them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};

/// Certificate authority (`ca.pem`) and the key of one server, in a directory of their own.
#[derive(Debug)]
pub struct CertificateLab {
    dir: TempDir,
}

impl CertificateLab {
    #[expect(clippy::new_without_default, reason = "it runs `openssl` twice, which no default should do")]
    pub fn new() -> Self {
        let lab = Self { dir: tempfile::tempdir().unwrap() };
        let new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let authority = ["-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/O=Lab", "-days", "30"];
        lab.run_openssl(&[&["req"], &new_key[..], &authority].concat());
        let server = ["-keyout", "server.key", "-out", "server.csr", "-subj", "/O=Server"];
        lab.run_openssl(&[&["req"], &new_key[..], &server].concat());
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run_openssl(&self, arguments: &[&str]) {
        let output = Command::new("openssl").current_dir(self.dir.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Issues a certificate for a host name, valid for so many days; `-1` makes an expired one.
    pub fn issue(&self, host: &str, days: &str) -> PathBuf {
        let file = format!("{host}{days}.pem");
        std::fs::write(self.path("name"), format!("subjectAltName=DNS:{host}\n")).unwrap();
        let sign = ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
        self.run_openssl(&[&sign[..], &["-out", &file, "-extfile", "name", "-days", days]].concat());
        self.path(&file)
    }

    /// Makes a self-signed certificate for `localhost`.
    pub fn self_sign(&self) -> PathBuf {
        let request = ["req", "-x509", "-key", "server.key", "-out", "self.pem", "-subj", "/O=Server", "-days", "30"];
        self.run_openssl(&[&request[..], &["-addext", "subjectAltName=DNS:localhost"]].concat());
        self.path("self.pem")
    }

    /// Makes the TLS side of a server that presents the certificate.
    pub fn acceptor(&self, certificate: &Path) -> TlsAcceptor {
        let chain = vec![CertificateDer::from_pem_file(certificate).unwrap()];
        let key = PrivateKeyDer::from_pem_file(self.path("server.key")).unwrap();
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        TlsAcceptor::from(Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap()))
    }
}
