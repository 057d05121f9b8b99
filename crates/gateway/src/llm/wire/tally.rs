//! What an answer said about its tokens so far. In streams numbers are cumulative: of each, the last one counts.

use crate::llm::models::is_name;
use crate::llm::record::ModelTokens;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) tokens: ModelTokens,
    /// What the upstream calls the model that answered.
    pub(crate) model: Option<String>,
    /// Whether anything was said about what went in.
    pub(crate) input_known: bool,
    /// Whether the last word about all tokens was said; what comes after it changes nothing.
    pub(crate) complete: bool,
    /// Whether every number was the last word if the answer ended here (Gemini says the sums with each piece).
    pub(crate) running: bool,
}

impl Tally {
    /// Whether the numbers are what will be paid, given whether the answer came to its end.
    pub(crate) const fn is_exact(&self, ended: bool) -> bool {
        self.complete || (ended && self.running)
    }

    /// Only what can be the name of a model: it comes from a server and goes into the ledger.
    pub(crate) fn name_model(&mut self, model: Option<String>) {
        if model.as_deref().is_some_and(is_name) {
            self.model = model;
        }
    }
}
