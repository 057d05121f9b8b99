//! What is sealed opens, only whole, only with its key and only under its name.

use proptest::prelude::*;

use super::*;

fn name_of(bytes: &[u8]) -> Name {
    Sha256::digest(bytes).into()
}

fn sealed(key: &Key, pieces: &[Vec<u8>]) -> Vec<u8> {
    let mut sealer = Sealer::new().expect("randomness");
    let mut body = Vec::new();
    for piece in pieces {
        sealer.push(piece, &mut body).expect("a vector takes everything");
    }
    sealer.finish(&mut body).expect("a vector takes everything");
    let header = sealer.header(key, &name_of(&pieces.concat())).expect("randomness");
    [header, body].concat()
}

fn opened(file: &[u8], key: &Key, name: &Name) -> Result<Vec<u8>, OpenError> {
    let mut plain = Vec::new();
    open(file, key, name, |bytes| {
        plain.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(plain)
}

#[test]
fn another_key_is_told_apart_from_damage_and_no_key_is_ever_shown() {
    let (key, other) = (Key::new([1; 32]), Key::new([2; 32]));
    let file = sealed(&key, &[b"secret".to_vec()]);
    assert!(matches!(opened(&file, &other, &name_of(b"secret")), Err(OpenError::WrongKey { .. })));
    assert!(matches!(opened(&file, &key, &name_of(b"public")), Err(OpenError::Broken { .. })));
    assert!(matches!(opened(b"", &key, &name_of(b"")), Err(OpenError::Broken { .. })));
    assert!(!format!("{key:?}").contains("0101"), "{key:?}");
    assert!(!file.windows(6).any(|window| window == b"secret"));
}

#[test]
fn the_same_bytes_sealed_twice_have_nothing_in_common() {
    let key = Key::new([1; 32]);
    let [one, two] = [(); 2].map(|()| sealed(&key, &[vec![7; 1_000]]));
    assert_ne!(one[HEADER_BYTES..], two[HEADER_BYTES..]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn in_whatever_pieces_it_comes_it_opens_and_no_changed_byte_goes_unnoticed(
        pieces in prop::collection::vec((any::<u8>(), 0_usize..90_000), 0..4),
        place: prop::sample::Index,
        flip in 1_u8..,
    ) {
        let key = Key::new([3; 32]);
        let pieces: Vec<Vec<u8>> = pieces.into_iter().map(|(byte, length)| vec![byte; length]).collect();
        let (whole, mut file) = (pieces.concat(), sealed(&key, &pieces));
        prop_assert_eq!(plain_length(file.len() as u64), whole.len() as u64);
        prop_assert_eq!(opened(&file, &key, &name_of(&whole)).expect("it opens"), whole.clone());
        let place = place.index(file.len());
        file[place] ^= flip;
        prop_assert!(opened(&file, &key, &name_of(&whole)).is_err(), "byte {}", place);
    }
}
