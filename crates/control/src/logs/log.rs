//! What one program said, as far as it is kept: the newest pieces, each at its place.
//!
//! Places are counted on from the moment at which the log was begun, in millionths of a second, and never so fast as time: a reader who
//! comes with a place of a log that was lost is before everything in the next one, and is told everything.

use std::collections::VecDeque;

use placet_domain::time::Timestamp;
use placet_wire::api::{LogKind, LogPiece, LogReport, LogStream, LogView};

use super::ear::{Ear, Heard};

/// What somebody reads who looks at a page, and a good deal to scroll back.
pub(super) const KEPT_BYTES: usize = 64 << 10;
/// What a piece takes besides its text: without it, empty lines would cost nothing.
const PIECE_BYTES: usize = 64;
/// Pieces are cut there, so that what is forgotten is not much more than what has to be.
const LONGEST_PIECE: usize = 4 << 10;

#[derive(Debug)]
pub(super) struct Log {
    start: Option<u64>,
    /// Bytes of this start, with those that were skipped.
    heard: u64,
    ears: [Ear; 2],
    /// Of a letter that was cut in two, where a line is longer than is waited for.
    cut: [Vec<u8>; 2],
    /// Left out, and not told yet.
    skipped: u64,
    pieces: VecDeque<(u64, LogPiece)>,
    kept_bytes: usize,
    /// Where the first piece began that there ever was, where the oldest one begins that is kept, and where the next one will.
    origin: u64,
    oldest: u64,
    next: u64,
    ended: bool,
}

impl Log {
    pub(super) fn begun_at(now: Timestamp) -> Self {
        let origin = u64::try_from(now.unix_ms()).unwrap_or(0).saturating_mul(1_000);
        Self {
            start: None,
            heard: 0,
            ears: <[Ear; 2]>::default(),
            cut: <[Vec<u8>; 2]>::default(),
            skipped: 0,
            pieces: VecDeque::new(),
            kept_bytes: 0,
            origin,
            oldest: origin,
            next: origin,
            ended: false,
        }
    }

    /// What it takes in memory.
    pub(super) fn cost_bytes(&self) -> usize {
        self.kept_bytes + self.waiting_bytes()
    }

    fn waiting_bytes(&self) -> usize {
        self.ears.iter().map(Ear::waiting_bytes).sum()
    }

    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Takes a report. Gives how much of this start was heard. One of an earlier start comes too late.
    pub(super) fn hear(&mut self, report: &LogReport) -> u64 {
        if self.start.is_some_and(|start| report.start < start) {
            return self.heard;
        }
        if self.start != Some(report.start) {
            self.begin(report.start);
        }
        if report.at > self.heard {
            self.skip(report.at - self.heard);
            self.heard = report.at;
        }
        let mut at = report.at;
        for said in &report.said {
            let known = usize::try_from(self.heard - at).unwrap_or(usize::MAX).min(said.bytes.len());
            at += said.bytes.len() as u64;
            self.heard = self.heard.max(at);
            let heard = self.ears[index(said.stream)].hear(&said.bytes[known..]);
            self.take(said.stream, heard);
        }
        if report.ended {
            self.end();
        }
        self.tell_skipped();
        self.heard
    }

    /// Everything that is kept after a place.
    pub(super) fn after(&self, place: u64) -> LogView {
        // Of another log, or of none.
        let place = if (self.origin..=self.next).contains(&place) { place } else { self.origin };
        let pieces = self.pieces.iter().filter(|(end, _)| *end > place).map(|(_, piece)| piece.clone());
        LogView {
            pieces: pieces.collect(),
            next: self.next,
            forgotten_bytes: self.oldest.saturating_sub(place),
            waiting_bytes: self.waiting_bytes() as u64,
            ended: self.ended,
        }
    }

    /// Nothing of it is kept any more, and what waits is nobody's.
    pub(super) fn forget(&mut self) {
        self.pieces.clear();
        (self.kept_bytes, self.oldest) = (0, self.next);
        self.skip(0);
    }

    fn begin(&mut self, start: u64) {
        if self.start.is_some() {
            // Whoever ran it did not say how it ended: what waits is the beginning of something.
            self.skip(0);
            self.tell_skipped();
            self.push(LogPiece { is: LogKind::Began, text: String::new(), bytes: 0 });
        }
        let ears = <[Ear; 2]>::default();
        (self.start, self.heard, self.ears, self.ended) = (Some(start), 0, ears, false);
    }

    fn end(&mut self) {
        for stream in [LogStream::Stdout, LogStream::Stderr] {
            let heard = self.ears[index(stream)].finish();
            self.take(stream, heard);
            self.skipped += std::mem::take(&mut self.cut[index(stream)]).len() as u64;
        }
        self.ended = true;
    }

    fn skip(&mut self, bytes: u64) {
        let waited: u64 = self.ears.iter_mut().map(Ear::skip).sum();
        let cut: usize = self.cut.iter_mut().map(|cut| std::mem::take(cut).len()).sum();
        self.skipped += bytes + waited + cut as u64;
    }

    fn take(&mut self, stream: LogStream, Heard { safe, left_out }: Heard) {
        self.skipped += left_out;
        let mut bytes = std::mem::take(&mut self.cut[index(stream)]);
        bytes.extend_from_slice(&safe);
        let whole = bytes.len() - cut_letter(&bytes);
        self.cut[index(stream)] = bytes.split_off(whole);
        let (mut text, mut no_text) = (String::new(), 0);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if let Some(plain) = readable(line) {
                self.push_no_text(&mut no_text);
                text.push_str(plain);
            } else {
                self.push_text(stream, &mut text);
                no_text += line.len() as u64;
            }
        }
        self.push_text(stream, &mut text);
        self.push_no_text(&mut no_text);
    }

    fn push_text(&mut self, stream: LogStream, text: &mut String) {
        let is = match stream {
            LogStream::Stdout => LogKind::Stdout,
            LogStream::Stderr => LogKind::Stderr,
        };
        let mut rest = std::mem::take(text);
        while !rest.is_empty() {
            let after = rest.split_off(piece_end(&rest));
            self.push(LogPiece { is, text: std::mem::replace(&mut rest, after), bytes: 0 });
        }
    }

    fn push_no_text(&mut self, bytes: &mut u64) {
        let bytes = std::mem::take(bytes);
        if bytes > 0 {
            self.push(LogPiece { is: LogKind::NoText, text: String::new(), bytes });
        }
    }

    fn tell_skipped(&mut self) {
        let bytes = std::mem::take(&mut self.skipped);
        if bytes > 0 {
            self.keep(LogPiece { is: LogKind::Skipped, text: String::new(), bytes });
        }
    }

    /// In its place: what was skipped before it is told first.
    fn push(&mut self, piece: LogPiece) {
        self.tell_skipped();
        self.keep(piece);
    }

    fn keep(&mut self, piece: LogPiece) {
        // What has no text takes one place: what was skipped may be more than there are places.
        self.next += (piece.text.len() as u64).max(1);
        self.kept_bytes += cost(&piece);
        self.pieces.push_back((self.next, piece));
        while self.kept_bytes > KEPT_BYTES
            && let Some((end, oldest)) = self.pieces.pop_front()
        {
            self.kept_bytes -= cost(&oldest);
            self.oldest = end;
        }
    }
}

const fn index(stream: LogStream) -> usize {
    match stream {
        LogStream::Stdout => 0,
        LogStream::Stderr => 1,
    }
}

fn cost(piece: &LogPiece) -> usize {
    piece.text.len() + PIECE_BYTES
}

/// The line as text, if it is one.
fn readable(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line).ok().filter(|text| !text.contains('\0'))
}

/// How many bytes at the end are the beginning of a letter.
fn cut_letter(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        Ok(_) | Err(_) => 0,
    }
}

/// After a line, if one ends within a piece; between letters otherwise.
fn piece_end(text: &str) -> usize {
    if text.len() <= LONGEST_PIECE {
        return text.len();
    }
    let most = text.floor_char_boundary(LONGEST_PIECE);
    text[..most].rfind('\n').map_or(most, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use placet_wire::api::Said;

    use super::*;

    fn log() -> Log {
        Log::begun_at(Timestamp::from_unix_ms(1))
    }

    fn said(text: impl AsRef<[u8]>) -> Said {
        Said { stream: LogStream::Stdout, bytes: text.as_ref().to_vec() }
    }

    fn report(at: u64, said: Vec<Said>) -> LogReport {
        LogReport { start: 1, at, said, ended: false }
    }

    fn shown(log: &Log) -> String {
        log.after(0).pieces.iter().map(|piece| format!("{:?} {}{} ", piece.is, piece.text, piece.bytes)).collect()
    }

    #[test]
    fn c16_both_streams_are_told_in_the_order_in_which_they_came() {
        let mut log = log();
        let err = Said { stream: LogStream::Stderr, bytes: b"two\n".to_vec() };
        assert_eq!(log.hear(&report(0, vec![said("one\n"), err, said("three\n")])), 14);
        assert_eq!(shown(&log), "Stdout one\n0 Stderr two\n0 Stdout three\n0 ");
    }

    #[test]
    fn c16_a_reader_gets_what_comes_after_the_place_that_they_have() {
        let mut log = log();
        log.hear(&report(0, vec![said("one\n")]));
        let place = log.after(0).next;
        assert!(log.after(place).pieces.is_empty());
        log.hear(&report(4, vec![said("two\n")]));
        let view = log.after(place);
        assert_eq!((view.pieces.len(), view.pieces[0].text.as_str(), view.forgotten_bytes), (1, "two\n", 0));
        assert_eq!(log.after(view.next + 1).pieces.len(), 2, "a place that nobody was given is none");
    }

    #[test]
    fn c16_what_was_skipped_is_told_with_how_much_it_was() {
        let mut log = log();
        log.hear(&report(0, vec![said("one\nhalf a li")]));
        log.hear(&report(1_000, vec![said("ne\ntwo\n")]));
        assert_eq!(shown(&log), "Stdout one\n0 Skipped 999 Stdout two\n0 ", "with the parts of lines beside it");
        assert_eq!(log.hear(&report(1_000, vec![said("ne\ntwo\n")])), 1_007, "what comes twice counts once");
        assert_eq!(shown(&log), "Stdout one\n0 Skipped 999 Stdout two\n0 ");
    }

    #[test]
    fn c16_only_the_newest_is_kept_and_what_is_gone_is_counted() {
        let mut log = log();
        let line = "x".repeat(999) + "\n";
        for number in 0..200 {
            log.hear(&report(number * 1_000, vec![said(&line)]));
        }
        let view = log.after(0);
        let kept: u64 = view.pieces.iter().map(|piece| piece.text.len() as u64).sum();
        assert!(log.cost_bytes() <= KEPT_BYTES && kept > 50_000, "{kept}");
        assert_eq!(view.forgotten_bytes + kept, 200_000);
        for number in 0..10_000 {
            log.hear(&report(200_000 + number, vec![said("\n")]));
        }
        assert!(log.cost_bytes() <= KEPT_BYTES && log.pieces.len() <= KEPT_BYTES / PIECE_BYTES);
    }

    #[test]
    fn c16_a_line_without_an_end_is_bounded_too() {
        let mut log = log();
        for number in 0..100 {
            log.hear(&report(number << 14, vec![said("é".repeat(1 << 13))]));
        }
        assert!(log.cost_bytes() < KEPT_BYTES + (200 << 10), "{}", log.cost_bytes());
        assert!(log.after(0).pieces.iter().all(|piece| piece.text.chars().all(|letter| letter == 'é')));
    }

    #[test]
    fn c16_what_is_no_text_is_told_as_such() {
        let mut log = log();
        log.hear(&report(0, vec![said(b"ok\n\xff\xfe\n\0\nwell\n")]));
        assert_eq!(shown(&log), "Stdout ok\n0 NoText 5 Stdout well\n0 ");
    }

    #[test]
    fn c16_another_start_begins_anew_and_a_late_report_of_the_one_before_is_nothing() {
        let mut log = log();
        log.hear(&LogReport { ended: true, ..report(0, vec![said("one\nlast words")]) });
        assert!(log.after(0).ended);
        log.hear(&LogReport { start: 2, ..report(0, vec![said("two\n")]) });
        assert_eq!(log.hear(&report(14, vec![said("late\n")])), 4);
        assert_eq!(shown(&log), "Stdout one\n0 Stdout last words0 Began 0 Stdout two\n0 ");
        assert!(!log.after(0).ended);
    }
}
