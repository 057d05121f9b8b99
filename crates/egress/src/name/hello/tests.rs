//! First messages made by hand: good ones, cut ones, spread ones and those that lie.

use proptest::prelude::*;

use super::*;

fn prefixed(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &prefixed(content)].concat()
}

fn names(entries: &[(u8, &[u8])]) -> Vec<u8> {
    let list: Vec<u8> = entries.iter().flat_map(|(kind, name)| [&[*kind][..], &prefixed(name)].concat()).collect();
    extension(SERVER_NAME, &prefixed(&list))
}

/// The message with these extensions, without records around it.
fn message(extensions: &[u8]) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.push(0);
    body.extend(prefixed(&[0x13, 1]));
    body.extend([1, 0]);
    body.extend(prefixed(extensions));
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[CLIENT_HELLO, length[1], length[2], length[3]][..], &body].concat()
}

/// The message in records of at most so many bytes.
fn records(message: &[u8], most: usize) -> Vec<u8> {
    message.chunks(most).flat_map(|part| [&[HANDSHAKE, 3, 1][..], &prefixed(part)].concat()).collect()
}

fn number(bytes: &[u8]) -> u16 {
    open(bytes).unwrap_err().number()
}

fn for_host(name: &str) -> Vec<u8> {
    message(&[extension(0x0a0a, &[]), names(&[(0, name.as_bytes())])].concat())
}

#[test]
fn the_name_is_found_however_the_message_is_spread() {
    let message = for_host("Example.org");
    for most in [1, 2, 3, 5, 50, 16_384] {
        let bytes = records(&message, most);
        let Ok(Opened::Whole(hello)) = open(&bytes) else { panic!("records of {most}") };
        assert_eq!(hello.server_name().unwrap().as_str(), "example.org");
        assert!(!hello.is_encrypted());
        for cut in 0..bytes.len() {
            assert_eq!(open(&bytes[..cut]), Ok(Opened::More), "cut at {cut} of records of {most}");
        }
    }
}

#[test]
fn an_encrypted_message_inside_is_marked() {
    for kind in ENCRYPTED {
        let bytes = records(&message(&[names(&[(0, b"example.org")]), extension(kind, &[1, 2, 3])].concat()), 16_384);
        assert!(matches!(open(&bytes), Ok(Opened::Whole(hello)) if hello.is_encrypted()));
    }
}

#[test]
fn a_message_without_a_name_says_so() {
    let bytes = records(&message(&extension(43, &[2, 3, 4])), 16_384);
    assert!(matches!(open(&bytes), Ok(Opened::Whole(hello)) if hello.server_name().is_none()));
}

#[test]
fn what_is_not_tls_is_known_from_its_first_bytes() {
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"SSH-2.0-x", &[0x80, 0x2e, 1, 3, 1], &[HANDSHAKE, 2, 0], &[23, 3, 3]] {
        assert_eq!(number(bytes), 30, "{bytes:?}");
    }
}

#[test]
fn messages_that_lie_are_refused() {
    let named = names(&[(0, b"example.org")]);
    let whole = |extensions: &[u8]| records(&message(extensions), 16_384);
    let mut coalesced = for_host("example.org");
    coalesced.extend([11, 0, 0, 0]);
    let mut other = for_host("example.org");
    other[0] = 2;
    let mut huge = for_host("example.org");
    huge[1] = 0xff;
    let mut odd = for_host("example.org");
    let at = odd.len() - 1;
    odd.truncate(at);
    odd[3] -= 1;
    for (what, bytes) in [
        ("two extensions with names", whole(&[named.clone(), named.clone()].concat())),
        ("two names", whole(&names(&[(0, b"example.org"), (0, b"evil.test")]))),
        ("a name of another kind", whole(&names(&[(1, b"example.org")]))),
        ("a trailing dot", whole(&names(&[(0, b"example.org.")]))),
        ("a NUL", whole(&names(&[(0, b"example.org\0.evil.test")]))),
        ("an address", whole(&names(&[(0, b"127.0.0.1")]))),
        ("no name in the list", whole(&names(&[]))),
        ("an empty extension", whole(&extension(SERVER_NAME, &[]))),
        ("not UTF-8", whole(&names(&[(0, &[0xff, 0xfe])]))),
        ("another message in the record", records(&coalesced, 16_384)),
        ("another message", records(&other, 16_384)),
        ("an endless message", records(&huge, 16_384)),
        ("a length that does not fit", records(&odd, 16_384)),
        ("an empty record", vec![HANDSHAKE, 3, 1, 0, 0]),
        ("a record that is too long", vec![HANDSHAKE, 3, 1, 0xff, 0xff]),
    ] {
        assert_eq!(number(&bytes), 33, "{what}");
    }
}

#[test]
fn data_after_the_message_is_none_of_our_business() {
    let bytes = [records(&for_host("example.org"), 16_384), vec![20, 3, 3, 0, 1, 1, 23, 3, 3, 0, 5]].concat();
    assert!(matches!(open(&bytes), Ok(Opened::Whole(_))));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        let _ = open(&bytes);
        let _ = open(&[&[HANDSHAKE, 3, 1, 0, 200, CLIENT_HELLO, 0, 0, 196][..], &bytes].concat());
    }

    #[test]
    fn a_flipped_byte_never_yields_another_name_unseen(at in 0usize..100, with: u8) {
        let mut bytes = records(&for_host("example.org"), 16_384);
        let at = at % bytes.len();
        bytes[at] = with;
        if let Ok(Opened::Whole(hello)) = open(&bytes) && let Some(name) = hello.server_name() {
            let spelled = name.as_str().as_bytes();
            let lower = bytes.to_ascii_lowercase();
            prop_assert!(lower.windows(spelled.len()).any(|window| window == spelled), "what is read stands there");
        }
    }
}
