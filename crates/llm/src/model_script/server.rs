//! Serves a script over HTTP.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Sleep;

use super::heard::Heard;
use super::play::{Line, Player};
use super::say::{Said, say};
use super::script::Script;

/// A script that is being played; dropping it hangs up.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    task: AbortHandle,
}

impl Running {
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked so far, in order.
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Plays a script on a free port of this machine.
pub async fn start(script: Script) -> io::Result<Running> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let heard = Arc::default();
    let task = tokio::spawn(accept(script, listener, Some(Arc::clone(&heard)))).abort_handle();
    Ok(Running { address, heard, task })
}

/// Plays a script on a listener until told to stop.
pub async fn serve(script: Script, listener: TcpListener, stop: impl Future<Output = ()>) {
    tokio::select! {
        () = accept(script, listener, None) => {}
        () = stop => {}
    }
}

type Kept = Option<Arc<Mutex<Vec<Heard>>>>;

async fn accept(script: Script, listener: TcpListener, kept: Kept) {
    let player = Arc::new(Player::new(script));
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let _ = socket.set_nodelay(true);
        connections.spawn(connection(Arc::clone(&player), kept.clone(), socket));
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(player: Arc<Player>, kept: Kept, socket: TcpStream) {
    let answer = service_fn(move |request| {
        let (player, kept) = (Arc::clone(&player), kept.clone());
        async move { Ok::<_, Infallible>(answer(&player, &kept, request).await) }
    });
    // That a client hangs up, or that the script breaks a connection, is part of the play.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await;
}

async fn answer(player: &Player, kept: &Kept, request: Request<Incoming>) -> Response<Played> {
    let (head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or_else(|| head.uri.path().to_owned(), ToString::to_string);
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let body = body.collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
    let Some(heard) = Heard::new(&path, headers, body) else { return unknown() };
    let line = player.line(&heard);
    // Heard is what came, also if whoever asked leaves before it is answered.
    if let Some(kept) = kept {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(heard.clone());
    }
    tokio::time::sleep(Duration::from_millis(line.delay_ms)).await;
    response(say(&heard, &line), &line)
}

fn response(said: Said, line: &Line) -> Response<Played> {
    let mut response = Response::new(Played::new(said.pieces, line));
    *response.status_mut() = StatusCode::from_u16(said.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(said.content_type));
    response
}

fn unknown() -> Response<Played> {
    let mut response = Response::new(Played::default());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// A body that comes in pieces, with pauses, and may break.
#[derive(Debug, Default)]
struct Played {
    pieces: VecDeque<Bytes>,
    pause: Duration,
    pausing: Option<Pin<Box<Sleep>>>,
    breaks: bool,
}

impl Played {
    fn new(mut pieces: Vec<Bytes>, line: &Line) -> Self {
        let breaks = line.break_after_bytes.is_some_and(|most| cut(&mut pieces, most));
        Self { pieces: pieces.into(), pause: Duration::from_millis(line.piece_delay_ms), pausing: None, breaks }
    }
}

/// Leaves so many bytes; says whether that was not all.
fn cut(pieces: &mut Vec<Bytes>, most: usize) -> bool {
    let mut left = most;
    let all: usize = pieces.iter().map(Bytes::len).sum();
    for piece in pieces.iter_mut() {
        piece.truncate(left);
        left -= piece.len();
    }
    pieces.retain(|piece| !piece.is_empty());
    most < all
}

impl Body for Played {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(pausing) = &mut self.pausing {
            std::task::ready!(pausing.as_mut().poll(cx));
            self.pausing = None;
        }
        let Some(piece) = self.pieces.pop_front() else {
            let broken = self.breaks.then(|| Err(io::Error::other("the script breaks here")));
            self.breaks = false;
            return Poll::Ready(broken);
        };
        if !self.pause.is_zero() {
            self.pausing = Some(Box::pin(tokio::time::sleep(self.pause)));
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}
