//! Names that lie, through the real binary: a resolver of their owner's answers first with a public address and then with a private one, with
//! both at once, by an alias, or in IPv6 alone. An action in a real cage asks for them by every way in. No connection goes anywhere but to an
//! address that was checked, and every refusal is in the evidence that the ledger names.

mod apart;
mod resolver;

use std::collections::HashMap;
use std::net::IpAddr;

use serde_json::Value;

use crate::network::{number, printed, python, requests, start};
use crate::support::{Done, Process, World};
use apart::{Everybody, PUBLIC};
use resolver::{Leads, Resolver};

/// Where a name leads at its second look and later, by each kind of record.
const ELSEWHERE: [&str; 8] = [
    "127.0.0.1",
    "169.254.169.254",
    "10.0.0.5",
    "0.0.0.0",
    "::1",
    "fd12::5",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
];
const WAYS: [&str; 4] = ["plain", "tunnel", "tls", "socks"];

/// What the program in the cage does: `plain`, `tunnel`, `tls` and `socks` ask for a name, `kept` twice on one connection. Each gives the
/// address that answered, or the number by which it was refused.
const ASK: &str = r"
import socket, urllib.request, urllib.error
def door():
    s = socket.create_connection(('127.0.0.1', 3128), 5)
    s.settimeout(30)
    return s, s.makefile('rb')
def heard(lines):
    status = lines.readline().split(b' ')[1].decode()
    length = 0
    while (line := lines.readline().strip()):
        if line.lower().startswith(b'content-length:'): length = int(line.split(b':')[1])
    body = lines.read(length).decode()
    return body if status == '200' and body else status
def get(s, lines, host, target):
    s.sendall(f'GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n'.encode())
    return heard(lines)
def plain(name):
    return get(*door(), name, f'http://{name}/')
def kept(name):
    s, lines = door()
    return get(s, lines, name, f'http://{name}/') + ' ' + get(s, lines, name, f'http://{name}/')
def tunnel(name):
    s, lines = door()
    s.sendall(f'CONNECT {name}:80 HTTP/1.1\r\nHost: {name}:80\r\n\r\n'.encode())
    said = heard(lines)
    return get(s, lines, name, '/') if said == '200' else said
def tls(name):
    s, lines = door()
    s.sendall(f'CONNECT {name}:443 HTTP/1.1\r\nHost: {name}:443\r\n\r\n'.encode())
    return heard(lines)
def socks(name):
    s, lines = door()
    s.sendall(bytes([5, 1, 0])); lines.read(2)
    name = name.strip('[]').encode()
    s.sendall(bytes([5, 1, 0, 3, len(name)]) + name + (443).to_bytes(2, 'big'))
    return str(lines.read(2)[1])
def follow(url):
    try: return urllib.request.urlopen(url, timeout=30).read().decode()
    except urllib.error.HTTPError as e: return str(e.code)
    except Exception as e: return type(e).__name__
";

fn addresses(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn in_turn(answers: &[&[&str]]) -> Leads {
    Leads::InTurn(answers.iter().map(|answer| addresses(answer)).collect())
}

/// A network with everybody in it, names that lead to them, and a run that may ask for every name below `test`.
struct Scene {
    world: World,
    run: String,
    everybody: Everybody,
    resolver: Resolver,
    _worker: Process,
}

impl Scene {
    fn start(names: impl IntoIterator<Item = (String, Leads)>) -> Self {
        let (everybody, resolver) = (Everybody::start(), Resolver::start(names.into_iter().collect::<HashMap<_, _>>()));
        let (world, run, worker) = start(&["*.test"]);
        Self { world, run, everybody, resolver, _worker: worker }
    }

    /// Runs a program in a cage. Gives what it printed, line by line, and the records of what it asked for.
    fn asks(&self, script: &str) -> (Vec<String>, Vec<Value>) {
        self.asks_through(&[], script)
    }

    /// The same, and TLS to these hosts is a tunnel that nobody looks into.
    fn asks_through(&self, hosts: &[String], script: &str) -> (Vec<String>, Vec<Value>) {
        let tunnels: Vec<String> = hosts.iter().map(|host| format!("unseen https://{host}/")).collect();
        let openings: Vec<&str> = ["*.test"].into_iter().chain(tunnels.iter().map(String::as_str)).collect();
        let done = python(&self.world, &self.run, &openings, &format!("{ASK}{script}"));
        let errors = String::from_utf8_lossy(&self.world.evidence(&done.id, "stderr")).into_owned();
        assert_eq!(done.status, "SUCCEEDED", "{errors}");
        let lines = printed(&self.world, &done).lines().map(str::to_owned).collect();
        (lines, self.recorded(&done))
    }

    /// The records, as the ledger has them: the list is a piece of evidence, whose digest is in an entry and still fits.
    fn recorded(&self, done: &Done) -> Vec<Value> {
        self.world.by("ada", &["evidence", "verify", &done.id]).ok();
        let records = requests(&self.world, done);
        let refused = records.iter().filter(|record| !record["decision"]["refused"].is_null()).count();
        assert_eq!(done.manifest["usage"]["network"]["refused"], refused);
        records
    }

    /// Nobody was led anywhere but to an address that may be reached, and what was reached is what the records say.
    fn assert_only_public_addresses_were_reached(&self, records: &[Value]) {
        let mut reached = self.everybody.reached();
        assert!(reached.iter().all(|at| PUBLIC.contains(&at.as_str())), "{reached:?}");
        let mut told: Vec<String> =
            records.iter().filter_map(|record| record["address"].as_str()).map(host_of).collect();
        reached.sort();
        told.sort();
        assert_eq!(reached, told, "each connection has its record");
    }
}

fn host_of(address: &str) -> String {
    address.parse::<std::net::SocketAddr>().unwrap().ip().to_string()
}

/// How many were refused because of where their name leads.
fn led_elsewhere(records: &[Value], host: &str) -> usize {
    let is_it = |record: &&Value| record["to"].as_str().unwrap_or_default().starts_with(&format!("{host}:"));
    records.iter().filter(is_it).filter(|record| number(record) == 20).count()
}

#[test]
fn r18_a_name_that_leads_elsewhere_at_a_later_look_leads_nowhere_by_any_way_in() {
    if !apart::is_inside("rebinding::r18_a_name_that_leads_elsewhere_at_a_later_look_leads_nowhere_by_any_way_in") {
        return;
    }
    let good = [PUBLIC[0]];
    let later: Vec<[&str; 1]> = ELSEWHERE.map(|address| [address]).to_vec();
    let mut answers: Vec<&[&str]> = vec![&good];
    answers.extend(later.iter().map(|answer| answer.as_slice()));
    answers.push(&good);
    let mut names: Vec<(String, Leads)> = WAYS.map(|way| (format!("{way}.test"), in_turn(&answers))).to_vec();
    let kept = |(number, answer): (usize, &[&str; 1])| (format!("kept{number}.test"), in_turn(&[&good, answer]));
    names.extend(later.iter().enumerate().map(kept));
    let elsewhere: Vec<&[&str]> = later.iter().map(|answer| answer.as_slice()).collect();
    names.push(("inside.test".to_owned(), in_turn(&elsewhere)));
    let scene = Scene::start(names);
    let script = format!(
        "for way in (plain, tunnel, tls, socks): print(*[way(way.__name__ + '.test') for _ in range({})])\n\
         print(*[follow('https://inside.test/') for _ in range({})])\n\
         for number in range({}): print(kept(f'kept{{number}}.test'))",
        answers.len(),
        later.len(),
        later.len()
    );
    let (lines, records) = scene.asks_through(&["tls.test".to_owned(), "socks.test".to_owned()], &script);
    let expected = |open: &str, refused: &str| {
        let all = [vec![open], vec![refused; later.len()], vec![open]].concat();
        all.join(" ")
    };
    let (plain, tls) = (expected(PUBLIC[0], "403"), expected("200", "403"));
    assert_eq!(lines[..4], [plain.clone(), plain, tls, expected("0", "2")]);
    assert_eq!(lines[4], vec!["403"; later.len()].join(" "), "inside of TLS that is looked into too");
    assert_eq!(led_elsewhere(&records, "inside.test"), later.len());
    assert_eq!(lines[5..], vec![format!("{} 403", PUBLIC[0]); later.len()], "on a connection that stays open too");
    for way in WAYS {
        let host = format!("{way}.test");
        assert_eq!(led_elsewhere(&records, &host), later.len(), "{way}: each refusal is on record");
        assert_eq!(scene.resolver.lookups(&host), answers.len(), "{way}: one look for each request");
    }
    let again = (0..later.len()).map(|number| led_elsewhere(&records, &format!("kept{number}.test")));
    assert_eq!(again.sum::<usize>(), later.len());
    scene.assert_only_public_addresses_were_reached(&records);
}

#[test]
fn r18_answers_that_mix_aliases_and_ipv6_alone_lead_to_nobody_who_may_not_be_reached() {
    if !apart::is_inside("rebinding::r18_answers_that_mix_aliases_and_ipv6_alone_lead_to_nobody_who_may_not_be_reached")
    {
        return;
    }
    let alias = |to: &str, address: &str| Leads::Alias(to.to_owned(), addresses(&[address]));
    let table: [(&str, Leads, Option<&str>); 12] = [
        ("mixed", in_turn(&[&[PUBLIC[0], "127.0.0.1"]]), None),
        ("mixed-first", in_turn(&[&["169.254.169.254", PUBLIC[0]]]), None),
        ("mixed-kinds", in_turn(&[&[PUBLIC[0], "fd12::5"]]), None),
        ("mixed-mapped", in_turn(&[&[PUBLIC[0], "::ffff:127.0.0.1"]]), None),
        ("mixed-inside", in_turn(&[&[PUBLIC[1], "10.0.0.5"]]), None),
        ("alias", alias("inside.corp", "10.0.0.5"), None),
        ("alias-here", alias("localhost.corp", "::1"), None),
        ("alias-good", alias("outside.corp", PUBLIC[0]), Some(PUBLIC[0])),
        ("six-here", in_turn(&[&["::1"]]), None),
        ("six-inside", in_turn(&[&["fd12::5"]]), None),
        ("six-mapped", in_turn(&[&["::ffff:169.254.169.254"]]), None),
        ("six-good", in_turn(&[&[PUBLIC[1]]]), Some(PUBLIC[1])),
    ];
    let scene = Scene::start(table.iter().map(|(name, leads, _)| (format!("{name}.test"), leads.clone())));
    let names: Vec<&str> = table.iter().map(|(name, ..)| *name).collect();
    let script = format!("for name in {names:?}: print(*[way(name + '.test') for way in (plain, tunnel, tls, socks)])");
    let hosts: Vec<String> = names.iter().map(|name| format!("{name}.test")).collect();
    let (lines, records) = scene.asks_through(&hosts, &script);
    for ((name, _, leads_to), said) in table.iter().zip(&lines) {
        let expected = leads_to.map_or("403 403 403 2".to_owned(), |at| format!("{at} {at} 200 0"));
        assert_eq!(*said, expected, "{name}");
        let refused = if leads_to.is_none() { WAYS.len() } else { 0 };
        assert_eq!(led_elsewhere(&records, &format!("{name}.test")), refused, "{name}: each is on record");
    }
    assert_eq!(lines.len(), table.len());
    scene.assert_only_public_addresses_were_reached(&records);
}

/// Where an allowed host sends its visitors, and by which number the next request is refused.
const SENT_TO: [(&str, u64); 9] = [
    ("169.254.169.254/latest", 10),
    ("127.0.0.1/", 10),
    ("[::1]/", 10),
    ("[::ffff:127.0.0.1]/", 10),
    ("2130706433/", 1),
    ("0177.0.0.1/", 1),
    ("inside.corp/", 10),
    ("trap.test/", 20),
    ("good.test:22/", 11),
];

#[test]
fn r18_a_redirect_and_an_address_in_any_spelling_lead_to_nobody_who_may_not_be_reached() {
    if !apart::is_inside(
        "rebinding::r18_a_redirect_and_an_address_in_any_spelling_lead_to_nobody_who_may_not_be_reached",
    ) {
        return;
    }
    let scene = Scene::start([
        ("good.test".to_owned(), in_turn(&[&[PUBLIC[0]]])),
        ("trap.test".to_owned(), in_turn(&[&["127.0.0.1"]])),
        ("inside.corp".to_owned(), in_turn(&[&[PUBLIC[0]]])),
    ]);
    let sent_to: Vec<&str> = SENT_TO.iter().map(|(to, _)| *to).collect();
    let script = format!(
        "for to in {sent_to:?}: print(follow('http://good.test/to/' + to))\n\
         print(follow('http://good.test/to/good.test/'))\n\
         hosts = ['[::1]', '[::]', '[fd12::5]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '2130706433', '017700000001',\n\
                  '0177.0.0.1', '0x7f.0.0.1', '0x7f000001', '127.1', '127.0.0.1', '10.0.0.5', '169.254.169.254', '0', '0.0.0.0', 'inside.corp']\n\
         said = [way(host) for host in hosts for way in (plain, tunnel, tls, socks)]\n\
         print(len(said), *sorted(set(said)))"
    );
    let (lines, records) = scene.asks(&script);
    let (followed, rest) = lines.split_at(SENT_TO.len());
    for ((to, _), said) in SENT_TO.iter().zip(followed) {
        assert!(said == "403" || said == "400", "{to}: {said}");
    }
    assert_eq!(
        rest,
        [PUBLIC[0], "72 1 2 400 403"],
        "a redirect that is allowed is followed, and of the others nobody answers"
    );
    // What was let through is on record once it is over, which may be after what came next was refused.
    let (refused, led): (Vec<&Value>, Vec<&Value>) =
        records.iter().partition(|record| !record["decision"]["refused"].is_null());
    let sent_on = led.iter().filter(|record| record["status"] == 302).count();
    assert_eq!(sent_on, SENT_TO.len() + 1, "whoever sends on is reached each time");
    for (record, (to, expected)) in refused.iter().zip(SENT_TO) {
        assert_eq!(number(record), expected, "{to}: each is judged on its own");
    }
    assert_eq!(refused.len(), SENT_TO.len() + 72, "each is on record");
    assert_eq!(scene.resolver.names(), ["good.test", "trap.test"], "what is refused is not even looked up");
    scene.assert_only_public_addresses_were_reached(&records);
}
