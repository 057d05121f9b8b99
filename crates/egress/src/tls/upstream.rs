//! TLS with the host: the name that was asked for, a certificate that is believed, or nothing is sent.

use std::sync::Arc;

use placet_dial::{Roots, explain_tls_error};
use placet_domain::scope::Place;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::ServerName;

use super::TlsError;
use crate::rules::Reason;

pub(super) struct Upstream(TlsConnector);

impl Upstream {
    pub(super) fn new(roots: Roots) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots.with_public())
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    pub(super) async fn connect(&self, stream: TcpStream, host: &Place) -> Result<TlsStream<TcpStream>, Reason> {
        let name = match host {
            Place::Named(host) => {
                ServerName::try_from(host.as_str().to_owned()).map_err(|_| Reason::Untrusted("it has no name"))?
            }
            Place::At(address) => ServerName::IpAddress((*address).into()),
        };
        self.0.connect(name, stream).await.map_err(|error| reason(&error))
    }
}

fn reason(error: &std::io::Error) -> Reason {
    let distrust = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).map(explain_tls_error);
    distrust.map_or(Reason::Broken, Reason::Untrusted)
}
