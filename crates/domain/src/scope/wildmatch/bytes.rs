//! A set of bytes that is asked in constant time.

/// One bit for each byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) fn of(holds: impl Fn(u8) -> bool) -> Self {
        let mut set = Self::of_bytes(b"");
        (0..=u8::MAX).filter(|byte| holds(*byte)).for_each(|byte| set.insert(byte));
        set
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let mut set = Self([0; 4]);
        bytes.iter().for_each(|byte| set.insert(*byte));
        set
    }

    pub(super) fn of_all_but(bytes: &[u8]) -> Self {
        Self(Self::of_bytes(bytes).0.map(|word| !word))
    }

    const fn insert(&mut self, byte: u8) {
        self.0[(byte >> 6) as usize] |= 1 << (byte & 63);
    }

    pub(super) const fn contains(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] & (1 << (byte & 63)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_it_was_made_of() {
        let odd = ByteSet::of(|byte| byte % 2 == 1);
        assert!((0..=u8::MAX).all(|byte| odd.contains(byte) == (byte % 2 == 1)));
        let (two, others) = (ByteSet::of_bytes(b"\0\xff"), ByteSet::of_all_but(b"\0\xff"));
        assert!((0..=u8::MAX).all(|byte| two.contains(byte) != others.contains(byte)));
        assert!(two.contains(0) && two.contains(u8::MAX) && others.contains(1));
    }
}
