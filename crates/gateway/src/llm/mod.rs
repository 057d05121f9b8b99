//! Calls of language models, passed on with keys that no agent sees.
