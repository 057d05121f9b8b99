//! Both directions of a client as one stream again, beginning with what was read from it and not taken yet.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::client::Client;

pub(crate) struct Joined<'a, S>(&'a mut Client<S>);

impl<'a, S> Joined<'a, S> {
    pub(super) const fn new(client: &'a mut Client<S>) -> Self {
        Self(client)
    }
}

impl<S: AsyncRead + AsyncWrite> AsyncRead for Joined<'_, S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.0.inbox.poll_read(context, to)
    }
}

impl<S: AsyncRead + AsyncWrite> AsyncWrite for Joined<'_, S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.out).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.out).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.out).poll_shutdown(context)
    }
}
