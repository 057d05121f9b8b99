//! The known word that was probably meant.

/// The nearest of the known words, if one is near enough to be a slip of the hand.
pub(super) fn nearest<'k>(given: &str, known: &[&'k str]) -> Option<&'k str> {
    // Longer words are never slips, and comparing them costs.
    if given.len() > 64 {
        return None;
    }
    let far = 1 + given.chars().count() / 4;
    let apart = known.iter().map(|word| (distance(given, word), *word));
    apart.filter(|(apart, _)| *apart <= far).min().map(|(_, word)| word)
}

/// How many characters must be changed, added or dropped.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, c) in one.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, d) in other.iter().enumerate() {
            next.push((row[j] + usize::from(c != *d)).min(row[j + 1] + 1).min(next[j] + 1));
        }
        row = next;
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["level", "launch", "limits"];
        assert_eq!(nearest("lvel", &known), Some("level"));
        assert_eq!(nearest("limts", &known), Some("limits"));
        assert_eq!(nearest("provider", &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
