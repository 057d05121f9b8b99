//! One stream of a program, made fit to be shown: secrets are covered, also where a report cuts them in two.
//!
//! A line is given when it is whole, because nobody can tell a secret by its first half. Where something was skipped, what stands on both
//! sides of the gap may be a part of a secret, and is left out too: the line that had begun, the rest of the line that follows, and lines
//! after it that could be the rest of a private key.

use placet_secrets::{Redactor, Scanner};

/// Lines of a key are 64 or 76 letters; its last one may be shorter.
const SHORTEST_KEY_LINE: usize = 32;
/// A line of letters that is longer than any of a key is left out whole.
const LONGEST_KEY_LINE: usize = 1_024;

#[derive(Debug)]
pub(super) struct Ear {
    redactor: Redactor<'static>,
    /// The last byte was a carriage return, which counts as the end of a line: progress is told by it.
    after_return: bool,
    gap: Gap,
}

/// Where it stands after something was skipped.
#[derive(Debug)]
enum Gap {
    /// Nothing is missing here.
    None,
    /// In the rest of a line whose beginning nobody heard.
    Line,
    /// In what could be a line of a key. `after_key`: the line before was one.
    Key { line: Vec<u8>, after_key: bool },
}

/// What comes out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) safe: Vec<u8>,
    /// How many bytes were left out.
    pub(super) left_out: u64,
}

impl Default for Ear {
    fn default() -> Self {
        Self { redactor: Redactor::new(Scanner::shipped()), after_return: false, gap: Gap::None }
    }
}

impl Ear {
    pub(super) fn waiting_bytes(&self) -> usize {
        let doubtful = match &self.gap {
            Gap::Key { line, .. } => line.len(),
            Gap::None | Gap::Line => 0,
        };
        self.redactor.waiting_bytes() + doubtful
    }

    pub(super) fn hear(&mut self, bytes: &[u8]) -> Heard {
        let ended = self.with_ends(bytes);
        let (rest, left_out) = self.mend(&ended);
        Heard { safe: self.redactor.push(&rest), left_out }
    }

    /// Something is missing from here on. Gives how many bytes waited and are nobody's now.
    pub(super) fn skip(&mut self) -> u64 {
        let waited = self.waiting_bytes() as u64;
        *self = Self { gap: Gap::Line, ..Self::default() };
        waited
    }

    /// What still waits, of a program that has ended.
    pub(super) fn finish(&mut self) -> Heard {
        let Self { redactor, gap, .. } = std::mem::take(self);
        let left_out = match &gap {
            Gap::Key { line, .. } => line.len() as u64,
            Gap::None | Gap::Line => 0,
        };
        Heard { safe: redactor.finish(), left_out }
    }

    /// The same with a line feed after each carriage return that has none. The carriage return stays, and is marked where it is shown.
    fn with_ends(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for (index, byte) in bytes.iter().copied().enumerate() {
            let follows_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            // Its line was ended already, in the chunk before.
            if byte == b'\n' && follows_return && index == 0 {
                continue;
            }
            out.push(byte);
            if byte == b'\r' && bytes.get(index + 1) != Some(&b'\n') {
                out.push(b'\n');
            }
        }
        out
    }

    /// What follows a gap, without what could belong to it; and how many bytes that was.
    fn mend(&mut self, bytes: &[u8]) -> (Vec<u8>, u64) {
        let (mut at, mut left_out) = (0, 0);
        while at < bytes.len() {
            let end = bytes[at..].iter().position(|byte| *byte == b'\n').map(|end| at + end + 1);
            let part = &bytes[at..end.unwrap_or(bytes.len())];
            match std::mem::replace(&mut self.gap, Gap::None) {
                Gap::None => return (bytes[at..].to_vec(), left_out),
                Gap::Line => {
                    left_out += part.len() as u64;
                    self.gap = if end.is_some() { Gap::Key { line: Vec::new(), after_key: false } } else { Gap::Line };
                }
                Gap::Key { mut line, after_key } => {
                    line.extend_from_slice(part);
                    match judge(&line, end.is_some(), after_key) {
                        Looks::Unlike => return ([&line, &bytes[at + part.len()..]].concat(), left_out),
                        Looks::Open => self.gap = Gap::Key { line, after_key },
                        Looks::Long => {
                            left_out += line.len() as u64;
                            self.gap = Gap::Line;
                        }
                        Looks::Like => {
                            left_out += line.len() as u64;
                            self.gap = Gap::Key { line: Vec::new(), after_key: true };
                        }
                        Looks::Between => {
                            left_out += line.len() as u64;
                            self.gap = Gap::Key { line: Vec::new(), after_key };
                        }
                        Looks::Last => left_out += line.len() as u64,
                    }
                }
            }
            at += part.len();
        }
        (Vec::new(), left_out)
    }
}

/// What a line after a gap could be.
enum Looks {
    Unlike,
    /// Nobody can tell yet.
    Open,
    Long,
    Like,
    /// Nothing of a key, but what stands between its lines.
    Between,
    /// The frame that ends a key.
    Last,
}

/// What keys stand in: indented, quoted, as comments, in texts of programs.
const FRAMING: &[u8] = b"\t \"'#*|+,:-\\\r\n";

/// What stands in a key beside its lines.
const HEADERS: &[&[u8]] = &[
    b"Proc-Type",
    b"DEK-Info",
    b"Comment",
    b"Encryption",
    b"Key-Derivation",
    b"Argon2-",
    b"Public-Lines",
    b"Private-Lines",
    b"Private-MAC",
    b"Private-Hash",
];

fn bare(mut line: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = line
        && FRAMING.contains(first)
    {
        line = rest;
    }
    while let [rest @ .., last] = line
        && FRAMING.contains(last)
    {
        line = rest;
    }
    line
}

const fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\')
}

/// Without what programs put before a line: its number, the name of a file or of a service. Only what is long enough for a line of a key is
/// taken for one then, or what has nothing but a number before it.
fn without_prefix(line: &[u8]) -> &[u8] {
    let start = line.iter().rposition(|byte| !is_of_key(*byte)).map_or(0, |at| at + 1);
    let (before, rest) = line.split_at(start);
    let is_numbered = before.iter().all(|byte| byte.is_ascii_digit() || FRAMING.contains(byte));
    if rest.len() >= SHORTEST_KEY_LINE || is_numbered { rest } else { line }
}

fn judge(line: &[u8], is_whole: bool, after_key: bool) -> Looks {
    let (bare, letters) = (bare(line), without_prefix(bare(line)));
    let is_of_key = letters.iter().all(|byte| is_of_key(*byte));
    // What stands before the letters counts too: however it is written, a line without an end is kept only so long.
    match (is_whole, is_of_key, if is_whole { letters.len() } else { bare.len() }) {
        (false, true, length) if length > LONGEST_KEY_LINE => Looks::Long,
        (false, false, length) if length > LONGEST_KEY_LINE => Looks::Unlike,
        (false, _, _) => Looks::Open,
        (true, true, 0) => Looks::Between,
        (true, true, length) if length >= SHORTEST_KEY_LINE || after_key => Looks::Like,
        (true, true, _) => Looks::Unlike,
        (true, false, _) if letters.starts_with(b"END ") && letters.windows(4).any(|word| word == b" KEY") => {
            Looks::Last
        }
        (true, false, _) if HEADERS.iter().any(|header| letters.starts_with(header)) => Looks::Between,
        (true, false, _) => Looks::Unlike,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks like a real one, and is none.
    const SECRET: &str = "ghp_Zq8TnV3xWc5RkL7mPb2YdJf9HsGa4Ue6NiKo";

    fn heard(ear: &mut Ear, bytes: &str) -> String {
        String::from_utf8(ear.hear(bytes.as_bytes()).safe).unwrap()
    }

    #[test]
    fn a9_a_secret_is_covered_wherever_two_reports_cut_it() {
        let line = format!("token {SECRET} end\n");
        for cut in 1..line.len() {
            let mut ear = Ear::default();
            let shown = heard(&mut ear, &line[..cut]) + &heard(&mut ear, &line[cut..]);
            assert!(!shown.contains("Zq8") && !shown.contains("NiKo"), "{cut}: {shown}");
            assert!(shown.starts_with("token [redacted ") && shown.ends_with("] end\n"), "{cut}: {shown}");
        }
    }

    #[test]
    fn a9_what_stands_on_both_sides_of_a_gap_is_left_out_because_a_secret_may_go_through_it() {
        let mut ear = Ear::default();
        assert_eq!(heard(&mut ear, &format!("before\ntoken {}", &SECRET[..20])), "before\n");
        assert_eq!(ear.skip(), 26);
        let after = ear.hear(format!("{} end\nafter\n", &SECRET[20..]).as_bytes());
        assert_eq!(after, Heard { safe: b"after\n".to_vec(), left_out: 25 });
    }

    #[test]
    fn a9_the_rest_of_a_private_key_after_a_gap_is_left_out() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj".to_owned() + "\n";
        for cut in [0, 10, body.len() - 1] {
            let mut ear = Ear::default();
            ear.skip();
            let text = format!("x\n{body}{body}Zz9=\n-----END PRIVATE KEY-----\ndone here\n");
            let shown = heard(&mut ear, &text[..cut]) + &heard(&mut ear, &text[cut..]);
            assert_eq!(shown, "done here\n", "{cut}");
        }
        let mut ear = Ear::default();
        ear.skip();
        assert_eq!(heard(&mut ear, "x\nok\nmore\n"), "ok\nmore\n", "a short word is no key");
    }

    #[test]
    fn a9_the_rest_of_a_private_key_is_left_out_whatever_it_stands_in() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let lines = |frame: &dyn Fn(&str) -> String| [body, body, "Zz9="].map(frame).concat();
        for (what, text) in [
            ("indented", lines(&|line| format!("    {line}\n")) + "    -----END RSA PRIVATE KEY-----\n"),
            ("quoted", lines(&|line| format!("  \"{line}\\n\" +\n")) + "  \"-----END PRIVATE KEY-----\\n\"\n"),
            ("commented", lines(&|line| format!("# {line}\r\n")) + "# -----END PRIVATE KEY-----\r\n"),
            (
                "headed",
                "DEK-Info: AES-128-CBC,00\n\n".to_owned()
                    + &lines(&|line| format!("{line}\n"))
                    + "-----END RSA PRIVATE KEY-----\n",
            ),
            ("numbered", lines(&|line| format!("    12\t{line}\n")) + "-----END PRIVATE KEY-----\n"),
            ("found", lines(&|line| format!("12:{line}\n")) + "-----END PRIVATE KEY-----\n"),
            ("of a service", format!("app_1  | {body}\n").repeat(2) + "-----END PRIVATE KEY-----\n"),
            ("of PuTTY", "Private-Lines: 3\n".to_owned() + &lines(&|line| format!("{line}\n")) + "Private-MAC: 00ff\n"),
        ] {
            let whole = format!("x\n{text}done here\n");
            for cut in 0..whole.len() {
                let mut ear = Ear::default();
                ear.skip();
                let shown = heard(&mut ear, &whole[..cut]) + &heard(&mut ear, &whole[cut..]);
                assert_eq!(shown, "done here\n", "{what}, cut at {cut}");
            }
        }
    }

    #[test]
    fn c16_a_line_without_an_end_after_a_gap_is_bounded_however_its_words_are_written() {
        let word = format!("{} ", "a".repeat(40));
        for endless in ["0 ", word.as_str()] {
            let mut ear = Ear::default();
            ear.skip();
            heard(&mut ear, "x\n");
            for _ in 0..100 {
                heard(&mut ear, &endless.repeat(100));
            }
            assert!(ear.waiting_bytes() < 64 * LONGEST_KEY_LINE, "{endless}: {} bytes", ear.waiting_bytes());
        }
    }

    #[test]
    fn c16_progress_that_is_told_by_carriage_returns_is_seen_as_it_goes() {
        let mut ear = Ear::default();
        assert_eq!(heard(&mut ear, "10%\r"), "10%\r\n");
        assert_eq!(heard(&mut ear, "20%\r30%\r"), "20%\r\n30%\r\n");
        assert_eq!(heard(&mut ear, "\nend\r\n"), "end\r\n", "a line feed after it is no line of its own");
    }

    #[test]
    fn c16_a_line_that_has_not_ended_waits_and_comes_with_the_end_of_the_program() {
        let mut ear = Ear::default();
        assert_eq!(heard(&mut ear, "what now? "), "");
        assert_eq!(ear.waiting_bytes(), 10);
        assert_eq!(ear.finish().safe, b"what now? ");
    }
}
