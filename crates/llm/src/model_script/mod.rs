//! A model server that plays a script: the same answers to the same questions, every time.
//!
//! It stands in for a real upstream where none can be had, in tests, measurements and demonstrations, and speaks the same four wire
//! formats, as streams and whole, with tokens, tool calls, errors, delays and breaks. It thinks nothing: what it says is written in a
//! file ([`Script`]). Real agents work against it.

mod heard;
mod play;
mod say;
mod script;
mod server;
mod shell;

pub use heard::Heard;
pub use script::{BadScript, Fault, Script, ToolCall, Turn, Used};
pub use server::{Running, serve, start};

/// The first answer to a request, all of it: for whoever wants the bytes without a server.
#[cfg(test)]
pub(crate) fn stream_of(script: Script, path: &str, body: &str) -> Vec<u8> {
    let heard = Heard::new(path, Vec::new(), body.as_bytes().to_vec()).expect("a path of a wire format");
    say::say(&heard, &play::Player::new(script).line(&heard)).pieces.concat()
}
