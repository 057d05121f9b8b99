//! The known word that was probably meant.

/// The nearest of the known words, if one is near enough to be a slip of the hand.
pub(crate) fn nearest<'k>(given: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    // Longer words are cheap to bound and never slips.
    if given.len() > 64 {
        return None;
    }
    let far = 1 + given.chars().count() / 4;
    known.map(|word| (distance(given, word), word)).filter(|(apart, _)| *apart <= far).min().map(|(_, word)| word)
}

/// How many characters must be changed, added, dropped or swapped with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) =
        (one.to_lowercase().chars().collect(), other.to_lowercase().chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut next = vec![i];
        for j in 1..=other.len() {
            let changed = row[j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = changed.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["allow", "deny", "displayName"];
        let near = |given| nearest(given, known.into_iter());
        assert_eq!(near("alow"), Some("allow"));
        assert_eq!(near("dispalyName"), Some("displayName"));
        assert_eq!(near("Deny"), Some("deny"));
        assert_eq!(near("quota"), None);
        assert_eq!(near(""), None);
    }
}
