//! What the wire formats have: the members of their requests, and what the names inside of them stand for. Data, and nothing that acts.
//!
//! Names inside of a request are compared without `_` and `-` and in small letters, because servers differ in what they take for the same.

use super::Wire;

/// What one format has.
#[derive(Debug)]
pub(super) struct Rules {
    /// What a request may have at its top. Everything else is refused unless the upstream's settings list it: servers have members of their
    /// own that lift the limit of the answer (`n_predict`), choose other models (`models`, `route`, `fallbacks`) or reach the network
    /// (`plugins`).
    pub(super) members: &'static [&'static str],
    /// Data of the agent's own tools, and marks on answers. No server looks for content in it.
    free: &'static [&'static str],
    /// What lies with the upstream, beside [`STORED`].
    stored: &'static [&'static str],
    /// Types of what was found or made earlier; where such a record comes again, nobody fetches what it names.
    pub(super) records: &'static [&'static str],
    pub(super) tools: Tools,
}

/// How tools say what they are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tools {
    /// By their type; these are run by the agent.
    Typed(&'static [&'static str]),
    /// By the names of their members; these are run by the agent.
    Named(&'static [&'static str]),
}

/// Tools that are described in the request and nowhere else.
pub(super) const PLAIN_TOOLS: [&str; 4] = ["function", "custom", "functionDeclarations", "function_declarations"];

/// How a value is judged, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing in it is looked at.
    Free,
    /// A JSON schema: its names are those of arguments, and of its texts only references lead anywhere.
    Schema,
    /// A reference inside of a schema.
    Reference,
    /// For the model to read: an address in it is a text.
    Text,
    /// The place of content: itself (`data:`), or an address.
    Address,
    /// What lies with the upstream.
    Stored,
    Other,
}

const SCHEMAS: [&str; 8] = [
    "inputschema",
    "outputschema",
    "schema",
    "parameters",
    "parametersjsonschema",
    "responseschema",
    "responsejsonschema",
    "responseformatschema",
];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicref", "$recursiveref"];
const ADDRESSES: [&str; 11] =
    ["url", "uri", "imageurl", "fileurl", "fileuri", "audiourl", "videourl", "documenturl", "serverurl", "href", "src"];
/// Uploads. An agent cannot upload anything through the gateway, so whatever such a name stands for came from somebody else.
const STORED: [&str; 3] = ["fileid", "fileids", "vectorstoreids"];
const TEXTS: [&str; 35] = [
    "text",
    "content",
    "input",
    "output",
    "instructions",
    "system",
    "arguments",
    "description",
    "title",
    "context",
    "query",
    "summary",
    "thinking",
    "reasoning",
    "reasoningcontent",
    "reasoningtext",
    "refusal",
    "signature",
    "thoughtsignature",
    "encryptedcontent",
    "encryptedstdout",
    "stop",
    "stopsequences",
    "patch",
    "diff",
    "stdout",
    "stderr",
    "code",
    "logs",
    "result",
    "token",
    "user",
    "safetyidentifier",
    "promptcachekey",
    "error",
];
/// A name as names are compared.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|sign| !matches!(sign, '_' | '-')).map(|sign| sign.to_ascii_lowercase()).collect()
}

impl Rules {
    pub(super) const fn of(wire: Wire) -> &'static Self {
        match wire {
            Wire::Messages => &MESSAGES,
            Wire::Chat => &CHAT,
            Wire::Responses => &RESPONSES,
            Wire::Gemini => &GEMINI,
        }
    }

    /// What a value is by its name, inside of something of this class.
    pub(super) fn class(&self, within: Class, name: &str) -> Class {
        match within {
            Class::Free => Class::Free,
            Class::Schema | Class::Reference if REFERENCES.contains(&name) => Class::Reference,
            Class::Schema | Class::Reference => Class::Schema,
            Class::Text | Class::Address | Class::Stored | Class::Other => self.named(name),
        }
    }

    fn named(&self, name: &str) -> Class {
        let classes: [(&[&str], Class); 6] = [
            (self.free, Class::Free),
            (&SCHEMAS, Class::Schema),
            (&ADDRESSES, Class::Address),
            (&STORED, Class::Stored),
            (self.stored, Class::Stored),
            (&TEXTS, Class::Text),
        ];
        let found = classes.into_iter().find(|(names, _)| names.contains(&name));
        found.map_or(Class::Other, |(_, class)| class)
    }
}

/// <https://platform.claude.com/docs/en/api/messages>. Not here: `fallbacks` (other models), `thread` and `user_profile_id` (what others
/// left, and who they are), `workspace_id` (whose account).
const MESSAGES: Rules = Rules {
    members: &[
        "model",
        "messages",
        "max_tokens",
        "cache_control",
        "compaction",
        "container",
        "context_management",
        // Why a cache was missed.
        "diagnostics",
        "inference_geo",
        "mcp_servers",
        "metadata",
        "output_config",
        "output_format",
        "service_tier",
        "speed",
        "stop_sequences",
        "stream",
        "system",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
        "top_k",
        "top_p",
    ],
    free: &["input", "inputexamples", "metadata", "citations"],
    stored: &[],
    records: &[
        "search_result",
        "web_search_result",
        "web_search_result_location",
        "web_fetch_result",
        "code_execution_output",
        "bash_code_execution_output",
    ],
    tools: Tools::Typed(&["custom", "bash", "text_editor", "computer", "memory", "str_replace_based_edit_tool"]),
};

/// <https://platform.openai.com/docs/api-reference/chat/create>, and what agents send to servers that speak the same: how tokens are drawn
/// (`top_k`, `min_p`, `repetition_penalty`) and whether to think (`reasoning`, `thinking`, `enable_thinking`), all within the limit.
/// Not here: `chat_template_kwargs` (some servers let it replace the template), `provider` and `models` (who answers, at which price).
const CHAT: Rules = Rules {
    members: &[
        "model",
        "messages",
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "modalities",
        "moderation",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
        "top_k",
        "min_p",
        "repetition_penalty",
        "reasoning",
        "thinking",
        "enable_thinking",
    ],
    free: &["metadata", "annotations", "logitbias", "arguments"],
    stored: &[],
    records: &[],
    tools: Tools::Typed(&["function", "custom"]),
};

/// <https://platform.openai.com/docs/api-reference/responses/create>, and `client_metadata`, which Codex sends. Not here: `access_programs`
/// (what an account was granted).
const RESPONSES: Rules = Rules {
    members: &[
        "model",
        "input",
        "background",
        "client_metadata",
        "context_management",
        "conversation",
        "include",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "moderation",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    ],
    // What was done earlier, by a shell, a browser or a search (`action`, `results`, `sources`), is not done again.
    free: &["metadata", "clientmetadata", "annotations", "arguments", "action", "actions", "results", "sources"],
    // A prompt that is kept may hold addresses, files and tools of its own; a conversation, whatever somebody put into it.
    stored: &["prompt", "conversation"],
    records: &[],
    tools: Tools::Typed(&[
        "function",
        "custom",
        "local_shell",
        "shell",
        "apply_patch",
        "computer",
        "computer_use_preview",
        // Groups of the agent's own functions, and the search among them.
        "namespace",
        "tool_search",
    ]),
};

/// <https://ai.google.dev/api/generate-content>, in both spellings that its server takes.
const GEMINI: Rules = Rules {
    members: &[
        "model",
        "contents",
        "tools",
        "toolConfig",
        "tool_config",
        "safetySettings",
        "safety_settings",
        "systemInstruction",
        "system_instruction",
        "generationConfig",
        "generation_config",
        "cachedContent",
        "cached_content",
        "serviceTier",
        "service_tier",
        "store",
        // Of a request whose tokens are counted: that request.
        "generateContentRequest",
        "generate_content_request",
    ],
    free: &["args", "response"],
    stored: &["cachedcontent"],
    records: &[],
    tools: Tools::Named(&["functionDeclarations", "function_declarations", "computerUse", "computer_use"]),
};
