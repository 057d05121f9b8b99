//! Text that leaves a worktree for a record, a report or a page: without secrets, whoever wrote it.

use placet_secrets::Scanner;

/// The text without its secrets.
pub fn redacted(text: &str) -> String {
    String::from_utf8_lossy(&Scanner::shipped().redact(text.as_bytes())).into_owned()
}

/// The words of a command without their secrets. A secret is often told by the word before it, as in `--password X`.
pub fn redacted_words(words: &[String]) -> Vec<String> {
    let alone: Vec<String> = words.iter().map(|word| redacted(word)).collect();
    let gives_away = |(before, word): (&String, &String)| {
        let together = format!("{}={word}", before.trim_start_matches('-'));
        before.starts_with('-') && redacted(&together) != together
    };
    let after = words.iter().zip(&words[1.min(words.len())..]).map(gives_away);
    let hidden = std::iter::once(false).chain(after);
    alone.into_iter().zip(hidden).map(|(word, hidden)| if hidden { "[redacted]".to_owned() } else { word }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_out_of_one_word_or_by_the_word_before() {
        let token = format!("ghp_{}", "wJ4k9QzT2mX7vB1nR5cY8dL3fH6sA0eU9pKq");
        let words = ["curl", &format!("-HAuthorization: {token}"), "--password", "kX9vQ2mT7wLp4RzN", "-o", "out"];
        let clean = redacted_words(&words.map(str::to_owned));
        assert_eq!((clean[0].as_str(), clean[4].as_str(), clean[5].as_str()), ("curl", "-o", "out"));
        assert!(!clean.join(" ").contains(&token) && !clean.join(" ").contains("kX9vQ2mT7wLp4RzN"), "{clean:?}");
    }

    #[test]
    fn ordinary_commands_stay_as_they_are() {
        let words = ["git", "commit", "-qam", "feat(core): x", "--author", "Mira"].map(str::to_owned);
        assert_eq!(redacted_words(&words), words);
        assert!(redacted_words(&[]).is_empty());
    }
}
