//! Changes to a text, by place: every byte that no change names stays as it is.

use std::ops::Range;

use bytes::Bytes;

/// Changes to a text, by place.
#[derive(Debug, Default, Clone)]
pub(crate) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    pub(crate) fn push(&mut self, place: Range<usize>, text: String) {
        self.0.push((place, text));
    }

    /// The text with all changes; the same bytes, not a copy, if there are none.
    pub(crate) fn apply(mut self, source: &Bytes) -> Bytes {
        if self.0.is_empty() {
            return source.clone();
        }
        self.0.sort_by_key(|(place, _)| place.start);
        let mut edited = Vec::with_capacity(source.len() + 64);
        let mut from = 0;
        for (place, text) in &self.0 {
            edited.extend_from_slice(&source[from..place.start]);
            edited.extend_from_slice(text.as_bytes());
            from = place.end;
        }
        edited.extend_from_slice(&source[from..]);
        edited.into()
    }
}
