//! What an answer said about its tokens so far. In streams numbers are cumulative: of each, the last one counts.

use crate::models::is_name;
use crate::record::{ModelTokens, NotText};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) tokens: ModelTokens,
    /// What the upstream calls the model that answered.
    pub(crate) model: Option<String>,
    /// Whether anything was said about what went in.
    pub(crate) input_known: bool,
    /// Whether the last word about all tokens was said; what comes after it changes nothing.
    pub(crate) complete: bool,
    /// Whether every number was the last word if the answer ended here (some say the sums with each piece).
    pub(crate) running: bool,
    /// Whether it said that it failed.
    pub(crate) failed: bool,
    /// What the upstream calls this answer, where only the answer says so.
    pub(crate) name: Option<String>,
}

impl Tally {
    /// Whether the numbers are what will be paid, given whether the answer came to its end.
    pub(crate) const fn is_exact(&self, ended: bool) -> bool {
        self.complete || (ended && self.running && !self.failed)
    }

    /// What of the tokens that went in is no text, said of all of them and of those from a cache. Where it is not said of the latter, as
    /// much as possible was read anew, which is dearer.
    pub(crate) fn took_in_not_text(&mut self, all: NotText, cached: NotText) {
        let tokens = &mut self.tokens;
        let beside = |all: u64, cached: u64| all.saturating_sub(cached);
        let (audio, image, video) =
            (beside(all.audio, cached.audio), beside(all.image, cached.image), beside(all.video, cached.video));
        tokens.input_not_text = NotText { audio, image, video }.at_most(tokens.input);
        let anew = tokens.input_not_text;
        let (audio, image, video) =
            (beside(all.audio, anew.audio), beside(all.image, anew.image), beside(all.video, anew.video));
        tokens.cache_read_not_text = NotText { audio, image, video }.at_most(tokens.cache_read);
    }

    /// Only what can be the name of a model: it comes from a server and goes into the ledger.
    pub(crate) fn name_model(&mut self, model: Option<String>) {
        if model.as_deref().is_some_and(is_name) {
            self.model = model;
        }
    }
}
