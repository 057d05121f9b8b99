//! What a request asks for, in the words of all wire formats, and what is changed in it before it goes on.

use super::needs::Need;

/// Whether what goes in may be written to a cache, which costs more than reading it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CacheWrites {
    None,
    Short,
    Long,
}

/// What matters of a request: for money, for rights, and for reading its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) model: String,
    /// Whether the answer comes piece by piece; else it comes when all of it is paid for.
    pub(crate) streams: bool,
    /// The most tokens of output the agent wants, if it said so.
    pub(crate) most_output: Option<u64>,
    /// With less than this the upstream would refuse the request.
    pub(crate) least_output: u64,
    /// How many answers are asked for; each may be as long as `most_output`.
    pub(crate) choices: u64,
    pub(crate) cache_writes: CacheWrites,
    /// Whether it names content that its own length says nothing about: pictures, files, earlier answers kept elsewhere.
    pub(crate) refers: bool,
    /// Whether a header asks for a larger context than the usual one.
    pub(crate) wide_context: bool,
    /// Whether the stream would tell the tokens only if asked, and was not asked.
    pub(crate) hides_usage: bool,
    /// What only passes where the settings of an upstream allow it.
    pub(crate) needs: Vec<Need>,
    /// How many tools the upstream explains to the model in words of its own, which go in as well.
    pub(crate) typed_tools: u64,
}

/// What is changed in a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<'a> {
    /// The model as the upstream calls it, if it calls it otherwise.
    pub(crate) model: Option<&'a str>,
    /// The most tokens of output from now on, if the request asked for more or did not say.
    pub(crate) most_output: Option<u64>,
    /// How the upstream spells that limit where there are two spellings.
    pub(crate) limit_name: &'a str,
    pub(crate) ask_for_usage: bool,
}

impl Change<'_> {
    /// The new limit for a place that asked for so much.
    pub(crate) fn lower(&self, asked: Option<u64>) -> Option<u64> {
        self.most_output.filter(|most| asked.is_none_or(|asked| asked > *most))
    }
}

/// A text as a JSON value.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
