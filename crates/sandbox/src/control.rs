//! The sockets between a launcher and its processes. To the zygote: a request for every helper. To a helper: one message
//! with the plan, and a few reports back.
//!
//! They are also what keeps the other side alive: when the launcher's end closes or is shut down, for whatever reason, the
//! zygote or the cage ends. The command itself never holds one.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, Shutdown, SocketFlags, SocketType, sockopt,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::StepError;
use crate::outcome::{Excess, Usage};
use crate::profile::Limits;
use crate::step::Step;

/// The program and at most four interpreters (as in the kernel), or the plan and the input.
const MAX_DESCRIPTORS: usize = 8;

/// What the helper is to do. Travels in a memory file, because plans outgrow messages.
#[derive(Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) steps: Vec<Step>,
    pub(crate) limits: Limits,
    /// Whether the launcher wants to look at the program before it runs.
    pub(crate) held: bool,
}

/// What the helper and its children tell the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The helper is there; a descriptor of its process comes along.
    Up { process: u32 },
    /// The zygote could not fork one.
    NotForked { errno: i32 },
    /// A door is open; its listening socket comes along.
    Door { port: u16 },
    /// The program is open; the descriptors come along, in the same order. Where the launcher wants to look at it first,
    /// it waits for [`Answer::Go`].
    Program { paths: Vec<String> },
    /// No such program.
    NoProgram { name: String },
    /// The program runs.
    Started,
    /// A step failed; nothing runs.
    Failed(StepError),
    /// The monitor ends the cage because of a limit, or found at the end that one had been exceeded.
    Over(Excess),
    /// The command ended. `stopped`: process 1 was told to end it. `status` is that of wait(2).
    Ended { stopped: bool, status: Option<i32>, command: Usage },
    /// Everything is gone.
    Gone { usage: Usage },
}

/// What the launcher asks of the zygote: a helper, which begins with these steps. The helper's own socket and the two
/// pipes its command writes to come along.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Fork {
    pub(crate) steps: Vec<Step>,
}

/// What the launcher tells the helper then: to enter the cage. The plan and the input come along.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Enter;

/// What the launcher tells the helper after that.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Execute the program.
    Go,
}

/// One end of the socket.
#[derive(Debug)]
pub(crate) struct Control(OwnedFd);

impl Control {
    pub(crate) fn pair() -> Result<(Self, OwnedFd), Errno> {
        let (one, other) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one), other))
    }

    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self(socket)
    }

    pub(crate) fn send(&self, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let bytes = serde_json::to_vec(message).map_err(|_| Errno::INVAL)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(Errno::TOOBIG);
        }
        rustix::net::sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut ancillary, SendFlags::NOSIGNAL).map(drop)
    }

    /// The next message; `None` when the other side is gone.
    pub(crate) fn receive<M: DeserializeOwned>(&self) -> Result<Option<(M, Vec<OwnedFd>)>, Errno> {
        let mut bytes = vec![0; self.next_length()?];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = rustix::io::retry_on_intr(|| {
            rustix::net::recvmsg(&self.0, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        })?;
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                descriptors.extend(received);
            }
        }
        if received.bytes == 0 {
            return Ok(None);
        }
        let message = serde_json::from_slice(&bytes[..received.bytes]).map_err(|_| Errno::BADMSG)?;
        Ok(Some((message, descriptors)))
    }

    /// Waits for the next message, and asks for its length only: room for the longest would be most of the memory that a
    /// helper touches, and it is forked to touch little.
    fn next_length(&self) -> Result<usize, Errno> {
        let flags = RecvFlags::PEEK | RecvFlags::TRUNC;
        rustix::io::retry_on_intr(|| rustix::net::recv(&self.0, &mut [0; 0], flags)).map(|(_, length)| length)
    }

    /// From now on [`Control::receive`] gives up after this time with `EAGAIN`.
    pub(crate) fn set_patience(&self, patience: Option<Duration>) -> Result<(), Errno> {
        sockopt::set_socket_timeout(&self.0, sockopt::Timeout::Recv, patience)
    }

    /// Tells the other side to end the cage, while its reports can still be read.
    pub(crate) fn shut_down(&self) {
        // A failure means that the other side is gone already, which is what was asked for.
        let _ = rustix::net::shutdown(&self.0, Shutdown::Write);
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A file in memory with these bytes, which no one can change any more.
pub(crate) fn sealed(name: &str, bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = match rustix::fs::memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
        // Kernels before 6.3 do not know how to refuse execution of it.
        Err(Errno::INVAL) => rustix::fs::memfd_create(name, flags)?,
        other => other?,
    };
    let mut file = File::from(memory);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

/// Reads the plan back.
pub(crate) fn read_spec(memory: OwnedFd) -> Result<Spec, Errno> {
    let mut bytes = Vec::new();
    File::from(memory).read_to_end(&mut bytes).map_err(|_| Errno::IO)?;
    serde_json::from_slice(&bytes).map_err(|_| Errno::BADMSG)
}
