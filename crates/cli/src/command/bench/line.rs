//! One connection to the control plane, as cheap as one can be: load must not be what is measured.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;

use crate::error::CliError;

pub(super) struct Line(SendRequest<Full<Bytes>>);

impl Line {
    /// Connects to `http://host:port`.
    pub(super) async fn open(server: &str) -> Result<Self, CliError> {
        let address = server.strip_prefix("http://").unwrap_or(server);
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(socket)).await.map_err(failed)?;
        tokio::spawn(connection);
        Ok(Self(sender))
    }

    /// A POST as somebody, on what they saw; anything but success is an error.
    pub(super) async fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        token: &str,
        seen: Option<&str>,
        body: &impl Serialize,
    ) -> Result<T, CliError> {
        let request = Request::post(path).header("host", "localhost").header("content-type", "application/json");
        let mut request = request.header("authorization", format!("Bearer {token}"));
        if let Some(seen) = seen {
            request = request.header("if-match", format!("\"{seen}\""));
        }
        let body = Full::from(serde_json::to_vec(body).map_err(failed)?);
        let response = self.0.send_request(request.body(body).map_err(failed)?).await.map_err(failed)?;
        let status = response.status();
        let bytes = response.into_body().collect().await.map_err(failed)?.to_bytes();
        if status.is_success() && status != StatusCode::NO_CONTENT {
            return serde_json::from_slice(&bytes).map_err(failed);
        }
        Err(CliError::failed(format!("{path}: {status} {}", String::from_utf8_lossy(&bytes))))
    }
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::failed(error.to_string())
}
