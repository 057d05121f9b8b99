//! Accepts connections within the available places ([`crate::connections`]), and closes those that do not send a request soon.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use placet_dial::WriteTimeout;
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt as _;

use crate::app::Limits;
use crate::connections::{Connections, Place};
use crate::peer::PeerLookup;

/// Enough for ours (47 characters of token) and for what proxies add.
const MOST_HEADERS: usize = 64;
const MOST_HEADER_BYTES: usize = 32 << 10;
/// After an error of the system (no more descriptors, say): long enough for some to be freed.
const RECOVERY: Duration = Duration::from_millis(50);

/// Local address at which a connection arrived. A caller compares it with the address that it dialled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrivedAt(pub(crate) SocketAddr);

/// Serves connections until told to stop; then lets those under way finish.
pub(crate) async fn accept(listener: TcpListener, router: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let connections = Connections::new(limits.connections);
    let mut lookup = PeerLookup::open();
    let http = http(&limits);
    let graceful = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = next(&listener, &connections, &mut lookup) => accepted,
            () = &mut stop => break,
        };
        let Some((socket, place)) = accepted else { continue };
        // Answers are small and awaited: better sent at once than in company.
        let _ = socket.set_nodelay(true);
        // A connection that is already closed has no local address.
        let Ok(address) = socket.local_addr() else { continue };
        let socket = WriteTimeout::new(socket, Duration::from_millis(limits.unread_ms));
        serve(
            &http,
            socket,
            place,
            (router.clone(), ArrivedAt(address)),
            &graceful,
            Duration::from_millis(limits.first_head_ms),
        );
    }
    drop(listener);
    graceful.shutdown().await;
}

/// The next connection, once there is a place for it.
async fn next(
    listener: &TcpListener,
    connections: &Connections,
    lookup: &mut PeerLookup,
) -> Option<(TcpStream, Place)> {
    connections.make_room().await;
    match listener.accept().await {
        Ok((socket, peer)) => {
            let peer = socket.local_addr().map(|own| lookup.find(peer, own)).ok()?;
            Some((socket, connections.admit(peer)))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be taken");
            tokio::time::sleep(RECOVERY).await;
            None
        }
    }
}

/// Closes connections whose request head arrives too slowly. Idle connections end after the same time, which is longer than our own clients
/// keep one, so that they never send into a closing connection. The first request has less time ([`serve`]), because callers open a
/// connection in order to send a request.
fn http(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_millis(limits.head_ms));
    http.max_headers(MOST_HEADERS).max_header_size(MOST_HEADER_BYTES);
    http
}

fn serve(
    http: &http1::Builder,
    socket: WriteTimeout<TcpStream>,
    place: Place,
    (router, arrived): (Router, ArrivedAt),
    graceful: &GracefulShutdown,
    first_head: Duration,
) {
    let answering = place.clone();
    let service = service_fn(move |request| answer(answering.clone(), arrived, router.clone(), request));
    let connection = graceful.watch(http.serve_connection(TokioIo::new(socket), service));
    tokio::spawn(async move {
        tokio::select! {
            // The error of a connection concerns only its caller; its requests were already answered and counted.
            _ = connection => {}
            () = place.ended() => {}
            () = silence(&place, first_head) => {}
        }
    });
}

/// Returns when the first request is overdue; never returns once it has arrived.
async fn silence(place: &Place, first_head: Duration) {
    if tokio::time::timeout(first_head, place.first_head()).await.is_ok() {
        std::future::pending::<()>().await;
    }
}

/// The connection was closed before the request began: nothing was done, and the caller may retry.
#[derive(Debug, thiserror::Error)]
#[error("the connection was ended to make room for others")]
struct Ended;

async fn answer(
    place: Place,
    arrived: ArrivedAt,
    router: Router,
    request: Request<Incoming>,
) -> Result<Response<Held>, Ended> {
    if !place.begin() {
        return Err(Ended);
    }
    let held = Answering(place.clone());
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(place);
    request.extensions_mut().insert(arrived);
    let response = match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    Ok(response.map(|body| Held { body, _held: held }))
}

/// A request in progress; dropped after the last byte of its response.
#[derive(Debug)]
struct Answering(Place);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// Response body that keeps its connection busy while it is being sent.
#[derive(Debug)]
struct Held {
    body: Body,
    _held: Answering,
}

impl hyper::body::Body for Held {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
