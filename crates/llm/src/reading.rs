//! READ: what a body asks for. A large one is read beside the threads that carry calls: reading takes as long as its bytes, and everybody
//! else would wait.

use bytes::Bytes;
use placet_domain::digest::Digest;

use super::portion::Portion;
use super::wire::{Asked, Complaint, Endpoint, Kind, Object, Unreadable, Wire};

/// Up to this size it takes less than a millisecond, which is less than a thread of its own costs.
const AT_ONCE: usize = 256 << 10;

/// What was found.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) object: Object,
    pub(crate) asked: Asked,
    pub(crate) digest: Digest,
    /// What the body has of all bytes. It comes along, because whoever leaves meanwhile leaves the body to be read to its end.
    pub(crate) room: Portion,
}

pub(crate) async fn read(wire: Wire, endpoint: &Endpoint, body: &Bytes, room: Portion) -> Result<Read, Complaint> {
    let (bytes, endpoint, body) = (body.len(), endpoint.clone(), body.clone());
    let read = move || -> Result<Read, Unreadable> {
        let object = Object::parse(&body)?;
        let asked = wire.read(&endpoint, &object)?;
        Ok(Read { asked, digest: Digest::of(&body), object, room })
    };
    let unreadable = |odd: Unreadable| Complaint::new(Kind::Unreadable, odd.to_string());
    beside(bytes, read).await?.map_err(unreadable)
}

/// Works on so many bytes, on a thread of its own if they are many.
async fn beside<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Complaint> {
    if bytes <= AT_ONCE {
        return Ok(work());
    }
    let failed = |_| Complaint::new(Kind::Unavailable, "the request cannot be read at the moment; try again later");
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn c12_a_large_body_is_read_beside_the_threads_that_carry_calls() {
        let here = thread::current().id();
        for (bytes, is_beside) in [(0, false), (AT_ONCE, false), (AT_ONCE + 1, true)] {
            let there = beside(bytes, || thread::current().id()).await.unwrap();
            assert_eq!(there != here, is_beside, "{bytes}");
        }
    }
}
