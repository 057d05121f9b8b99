//! Bodies in all framings, and engines that misbehave.

use std::io::Cursor;
use std::os::unix::net::UnixListener;
use std::thread;

use proptest::prelude::*;
use tempfile::TempDir;

use super::body::Framing;
use super::*;

const CHUNKS: Framing = Framing::Chunks { left_bytes: 0, ended: false };

/// Longer than a busy machine takes for an answer, and never waited for in vain.
const CALL: Call<'_> =
    Call { method: "GET", target: "/x", json: None, doing: "say hello", patience: Duration::from_secs(20) };

const IMPATIENT: Call<'_> = Call { patience: Duration::from_millis(200), ..CALL };

fn body(bytes: &[u8], framing: Framing) -> io::Result<Vec<u8>> {
    Body::new(Cursor::new(bytes.to_vec()), framing).read_all(1 << 20)
}

#[test]
fn a_body_ends_where_it_says() {
    assert_eq!(body(b"hello, and more", Framing::Length { left_bytes: 5 }).expect("a body"), b"hello");
    assert_eq!(body(b"hello", Framing::UntilClosed).expect("a body"), b"hello");
    assert_eq!(body(b"5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n\r\n", CHUNKS).expect("a body"), b"hello!");
    assert_eq!(body(b"0\r\n\r\n", CHUNKS).expect("a body"), b"");
}

#[test]
fn a_body_that_is_cut_or_broken_is_an_error() {
    assert!(body(b"hel", Framing::Length { left_bytes: 5 }).is_err());
    assert!(body(b"5\r\nhel", CHUNKS).is_err());
    assert!(body(b"5\r\nhello", CHUNKS).is_err(), "the end is missing");
    assert!(body(b"zz\r\nhello", CHUNKS).is_err());
    assert!(body(&[b'a'; 1_000], CHUNKS).is_err(), "no line end in sight");
}

#[test]
fn a_body_larger_than_agreed_is_an_error() {
    let large = Body::new(Cursor::new(vec![0; 11]), Framing::UntilClosed);
    assert_eq!(large.read_all(10).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn heads_that_cannot_be_understood_are_errors() {
    let empty = parse_head(b"HTTP/1.1 204 No Content\r\n\r\n").expect("a head");
    assert_eq!(empty.framing, Framing::Length { left_bytes: 0 });
    for head in ["SMTP ready\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"] {
        assert!(parse_head(head.as_bytes()).is_err(), "{head}");
    }
    assert!(parse_head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n").is_err());
}

/// An engine that reads one request and says this.
fn engine(says: &'static [u8]) -> (TempDir, Client) {
    let directory = TempDir::new().expect("a directory");
    let socket = directory.path().join("engine.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a caller");
        let mut reader = BufReader::new(stream.try_clone().expect("a handle"));
        read_head(&mut reader).expect("a request");
        stream.write_all(says).expect("an answer");
        // The caller hangs up first, or loses its patience.
        let _ = reader.read_to_end(&mut Vec::new());
    });
    (directory, Client::new(&socket))
}

#[test]
fn an_answer_arrives_and_a_complaint_is_quoted() {
    let (_kept, client) = engine(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    assert_eq!(client.send(&CALL).expect("an answer").read_all(10).expect("a body"), b"hi");
    let (_kept, client) = engine(b"HTTP/1.1 409 No\r\nContent-Length: 20\r\n\r\n{\"message\":\"not so\"}");
    let complaint = client.send(&CALL).expect_err("a complaint").to_string();
    assert_eq!(complaint, "the container engine cannot say hello: not so (status 409)");
}

#[test]
fn an_engine_that_says_nothing_or_half_is_given_up() {
    let (_kept, client) = engine(b"HTTP/1.1 200 OK\r\n");
    let error = client.send(&IMPATIENT).expect_err("no answer");
    let in_time = matches!(&error, EngineError::Lost { source, .. } if source.kind() == io::ErrorKind::TimedOut);
    assert!(in_time, "{error:?}");
    let (_kept, client) = engine(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf");
    let body = client.send(&IMPATIENT).expect("a head");
    assert_eq!(body.read_all(100).expect_err("half an answer").kind(), io::ErrorKind::TimedOut);
}

#[test]
fn no_engine_is_told_with_the_place_where_it_was_expected() {
    let error = Client::new(Path::new("/nowhere/engine.sock")).send(&CALL).expect_err("no engine");
    assert!(error.to_string().contains("`/nowhere/engine.sock`"), "{error}");
}

#[test]
fn an_upgraded_connection_keeps_what_came_with_the_head() {
    let (_kept, client) = engine(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\nearly");
    let mut stream = client.upgrade(&CALL).expect("a stream");
    let mut early = [0; 5];
    stream.read_exact(&mut early).expect("what came along");
    assert_eq!(&early, b"early");
}

proptest! {
    #[test]
    fn chunks_of_any_size_make_the_same_body(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..200), 0..20),
    ) {
        let mut sent = Vec::new();
        for piece in &pieces {
            sent.extend(format!("{:x}\r\n", piece.len()).into_bytes());
            sent.extend(piece);
            sent.extend(b"\r\n");
        }
        sent.extend(b"0\r\n\r\n");
        prop_assert_eq!(body(&sent, CHUNKS).expect("a body"), pieces.concat());
    }
}
