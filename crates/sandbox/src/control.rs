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
use serde_json::StreamDeserializer;
use serde_json::de::SliceRead;

use crate::error::StepError;
use crate::outcome::{Excess, Usage};
use crate::profile::Limits;
use crate::step::Step;

/// The program and at most four interpreters (as in the kernel), or the input and the plan.
const MAX_DESCRIPTORS: usize = 8;

/// What holds for all steps of a plan.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Terms {
    pub(crate) limits: Limits,
    /// Whether the launcher wants to look at the program before it runs.
    pub(crate) held: bool,
}

/// A plan on its way: the terms, and one step after the other. They are read as they are taken, so that whoever takes them
/// touches the memory of one at a time.
pub(crate) struct Plan(Vec<u8>);

/// The steps of a plan that were not taken yet.
pub(crate) type Steps<'a> = StreamDeserializer<'a, SliceRead<'a>, Step>;

impl Plan {
    /// As long as one message may be. A plan with long arguments travels in a memory file.
    const MAX_MESSAGE_BYTES: usize = 64 << 10;

    pub(crate) fn new(terms: &Terms, steps: &[Step]) -> serde_json::Result<Self> {
        let mut text = serde_json::to_vec(terms)?;
        for step in steps {
            text.push(b'\n');
            serde_json::to_writer(&mut text, step)?;
        }
        Ok(Self(text))
    }

    pub(crate) fn read(&self) -> Result<(Terms, Steps<'_>), Errno> {
        let mut text = serde_json::Deserializer::from_slice(&self.0);
        let terms = Terms::deserialize(&mut text).map_err(|_| Errno::BADMSG)?;
        Ok((terms, text.into_iter()))
    }
}

/// What the helper and its children tell the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The helper is there; a descriptor of its process comes along.
    Up,
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

/// What the launcher sends to the helper in place of a plan that is too long for a message.
const IN_MEMORY: &[u8] = b"in memory";

/// What the launcher tells the helper after that.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Execute the program.
    Go,
    /// Let the cage stand still, and say so on the socket that comes along, until that is closed.
    Freeze,
}

/// What the monitor tells whoever asked for a standstill.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Stillness {
    Frozen {
        by: FrozenBy,
    },
    /// Somebody else's standstill is not over.
    Already,
    /// It could not be brought about, and everything goes on.
    Awake,
    /// Everything goes on. `held`: nobody was seen awake meanwhile.
    Thawed {
        held: bool,
    },
}

/// What keeps a frozen cage still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FrozenBy {
    /// The kernel, for the whole tree: nothing inside can end it.
    ControlGroup,
    /// A signal to every process. A program can arrange to be woken; it is stopped again, and that is said.
    Signals,
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
        self.send_bytes(&serde_json::to_vec(message).map_err(|_| Errno::INVAL)?, descriptors)
    }

    /// Tells a helper what to do, and hands it the input of its command.
    pub(crate) fn send_plan(&self, Plan(text): &Plan, stdin: BorrowedFd<'_>) -> Result<(), Errno> {
        if text.len() <= Plan::MAX_MESSAGE_BYTES {
            match self.send_bytes(text, &[stdin]) {
                // A host may allow less.
                Err(Errno::MSGSIZE | Errno::NOBUFS) => {}
                other => return other,
            }
        }
        let memory =
            sealed("placet-cage-plan", text).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        self.send_bytes(IN_MEMORY, &[stdin, memory.as_fd()])
    }

    fn send_bytes(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(Errno::TOOBIG);
        }
        rustix::net::sendmsg(&self.0, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL).map(drop)
    }

    /// The next message; `None` when the other side is gone.
    pub(crate) fn receive<M: DeserializeOwned>(&self) -> Result<Option<(M, Vec<OwnedFd>)>, Errno> {
        let (bytes, descriptors) = self.receive_bytes()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let message = serde_json::from_slice(&bytes).map_err(|_| Errno::BADMSG)?;
        Ok(Some((message, descriptors)))
    }

    /// The plan, and the input of the command.
    pub(crate) fn receive_plan(&self) -> Result<(Plan, OwnedFd), Errno> {
        let (text, descriptors) = self.receive_bytes()?;
        let mut descriptors = descriptors.into_iter();
        let stdin = descriptors.next().ok_or(Errno::BADMSG)?;
        match descriptors.next() {
            None => Ok((Plan(text), stdin)),
            Some(memory) => Ok((Plan(read_all(memory)?), stdin)),
        }
    }

    /// No bytes: the other side is gone.
    fn receive_bytes(&self) -> Result<(Vec<u8>, Vec<OwnedFd>), Errno> {
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
        bytes.truncate(received.bytes);
        Ok((bytes, descriptors))
    }

    /// Waits for the next message, and asks for its length only: room for the longest would be most of the memory that a
    /// helper touches, and it is forked to touch little.
    fn next_length(&self) -> Result<usize, Errno> {
        let flags = RecvFlags::PEEK | RecvFlags::TRUNC;
        loop {
            match rustix::net::recv(&self.0, &mut [0; 0], flags) {
                // The other side ended without reading everything. That is said once, and before its last words.
                Err(Errno::INTR | Errno::CONNRESET) => {}
                other => return other.map(|(_, length)| length),
            }
        }
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

fn read_all(memory: OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    File::from(memory).read_to_end(&mut bytes).map_err(|_| Errno::IO)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::step::Role;

    fn plan(argument_bytes: usize) -> (Terms, Vec<Step>) {
        let limits = Profile::builtin("default").expect("a builtin profile").limits();
        let exec = Step::Exec { argv: vec!["x".repeat(argument_bytes)], env: Vec::new() };
        (Terms { limits, held: true }, vec![Step::NewSession, Step::Fork { into: Role::Init }, exec])
    }

    #[test]
    fn a_plan_arrives_with_the_input_however_long_it_is() {
        for argument_bytes in [1, Plan::MAX_MESSAGE_BYTES, 1 << 20] {
            let (terms, steps) = plan(argument_bytes);
            let (launcher, helper) = Control::pair().expect("a socket");
            let stdin = sealed("input", b"input").expect("a file");
            launcher.send_plan(&Plan::new(&terms, &steps).expect("a plan"), stdin.as_fd()).expect("sent");
            let (plan, stdin) = Control::new(helper).receive_plan().expect("received");
            let (read_terms, read_steps) = plan.read().expect("a plan");
            assert_eq!((read_terms.limits, read_terms.held), (terms.limits, terms.held));
            assert_eq!(read_steps.collect::<Result<Vec<_>, _>>().expect("steps"), steps);
            assert_eq!(read_all(stdin), Ok(b"input".to_vec()));
        }
    }

    #[test]
    fn last_words_are_heard_of_one_that_did_not_listen() {
        let (launcher, helper) = Control::pair().expect("a socket");
        let helper = Control::new(helper);
        launcher.send(&Answer::Go, &[]).expect("sent");
        helper.send(&Report::NotForked { errno: 12 }, &[]).expect("sent");
        drop(helper);
        let heard = launcher.receive::<Report>().expect("no error");
        assert!(matches!(heard, Some((Report::NotForked { errno: 12 }, _))), "{heard:?}");
        assert!(launcher.receive::<Report>().expect("no error").is_none());
    }

    #[test]
    fn what_is_no_plan_is_not_followed() {
        let (launcher, helper) = Control::pair().expect("a socket");
        drop(launcher);
        assert!(Control::new(helper).receive_plan().is_err(), "the launcher is gone");
        assert!(Plan(b"nonsense".to_vec()).read().is_err());
        let (terms, steps) = plan(1);
        let Plan(mut text) = Plan::new(&terms, &steps).expect("a plan");
        text.truncate(text.len() - 1);
        let torn = Plan(text);
        let (_, mut read) = torn.read().expect("terms");
        assert!(read.nth(steps.len() - 1).is_some_and(|last| last.is_err()));
        assert!(read.next().is_none());
    }
}
