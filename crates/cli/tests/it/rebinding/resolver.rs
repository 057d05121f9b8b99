//! A resolver that lies as its test says: names with one answer after the other, as somebody has them who owns the domain. Nothing is to be
//! kept (each answer is valid for no time), and every question is noted.

use std::collections::HashMap;
use std::net::{IpAddr, UdpSocket};
use std::sync::{Arc, Mutex};

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
/// Where the name of the question stands in every message.
const THE_NAME: [u8; 2] = [0xc0, 12];

/// What a name leads to.
#[derive(Debug, Clone)]
pub(crate) enum Leads {
    /// To these addresses at the first lookup, to those at the next; the last answer stays.
    InTurn(Vec<Vec<IpAddr>>),
    /// To another name, and to what that one leads to.
    Alias(String, Vec<IpAddr>),
}

pub(crate) struct Resolver {
    /// Names and kinds that were asked for, in order.
    asked: Arc<Mutex<Vec<(String, u16)>>>,
}

impl Resolver {
    pub(crate) fn start(names: HashMap<String, Leads>) -> Self {
        let (socket, asked) = (UdpSocket::bind("127.0.0.1:53").unwrap(), Arc::<Mutex<Vec<(String, u16)>>>::default());
        let noted = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut message = [0; 512];
            while let Ok((size, from)) = socket.recv_from(&mut message) {
                let (name, kind, end) = question(&message[..size]);
                let mut asked = noted.lock().unwrap();
                let turn = asked.iter().filter(|before| **before == (name.clone(), kind)).count();
                asked.push((name.clone(), kind));
                drop(asked);
                let records = names.get(&name).map(|leads| records(leads, turn, kind));
                let _ = socket.send_to(&reply(&message[..end], records), from);
            }
        });
        Self { asked }
    }

    /// How often this name was looked up.
    pub(crate) fn lookups(&self, name: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|(asked, kind)| asked == name && *kind == A).count()
    }

    /// Every name that was asked for, once.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.asked.lock().unwrap().iter().map(|(name, _)| name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// The name and the kind that a message asks for, and where the question ends.
fn question(message: &[u8]) -> (String, u16, usize) {
    let (mut labels, mut at) = (Vec::new(), 12);
    while message[at] != 0 {
        let end = at + 1 + usize::from(message[at]);
        labels.push(String::from_utf8_lossy(&message[at + 1..end]).to_lowercase());
        at = end;
    }
    (labels.join("."), u16::from_be_bytes([message[at + 1], message[at + 2]]), at + 5)
}

fn records(leads: &Leads, turn: usize, kind: u16) -> Vec<Vec<u8>> {
    match leads {
        Leads::InTurn(answers) => {
            let answer = answers.get(turn).or(answers.last()).map(Vec::as_slice).unwrap_or_default();
            addresses(&THE_NAME, answer, kind)
        }
        Leads::Alias(name, answer) => {
            let target = spelled(name);
            [vec![record(&THE_NAME, CNAME, &target)], addresses(&target, answer, kind)].concat()
        }
    }
}

/// Those of the addresses that are of the kind.
fn addresses(owner: &[u8], answer: &[IpAddr], kind: u16) -> Vec<Vec<u8>> {
    let of_kind = answer.iter().filter_map(|address| match address {
        IpAddr::V4(four) if kind == A => Some(record(owner, A, &four.octets())),
        IpAddr::V6(six) if kind == AAAA => Some(record(owner, AAAA, &six.octets())),
        IpAddr::V4(_) | IpAddr::V6(_) => None,
    });
    of_kind.collect()
}

fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let size = u16::try_from(data.len()).unwrap();
    // Of the internet, valid for no time.
    [owner, &kind.to_be_bytes(), &[0, 1], &[0; 4], &size.to_be_bytes(), data].concat()
}

/// A name as messages spell it.
fn spelled(name: &str) -> Vec<u8> {
    let label = |label: &str| [&[u8::try_from(label.len()).unwrap()], label.as_bytes()].concat();
    name.split('.').flat_map(label).chain([0]).collect()
}

/// The answer to a question; without records there is no such name.
fn reply(question: &[u8], records: Option<Vec<Vec<u8>>>) -> Vec<u8> {
    let (flags, records) = match records {
        Some(records) => ([0x81, 0x80], records),
        None => ([0x81, 0x83], Vec::new()),
    };
    let count = u16::try_from(records.len()).unwrap().to_be_bytes();
    [&question[..2], &flags, &[0, 1], &count, &[0; 4], &question[12..], &records.concat()].concat()
}
