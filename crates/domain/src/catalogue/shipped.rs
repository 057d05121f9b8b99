//! The entries that ship. They are files of the repository, read in review like any other.

macro_rules! shipped {
    ($($file:literal)*) => { &[$(($file, include_str!(concat!("../../catalogue/", $file)))),*] };
}

/// The shipped entries: names of files and their texts.
pub const fn shipped() -> &'static [(&'static str, &'static str)] {
    shipped![
        "aider.toml" "browser_agent.toml" "claude.toml" "code_agent.toml" "codex.toml" "developer_agent.toml"
        "gemini.toml" "goose.toml" "mini_swe_agent.toml" "opencode.toml" "openhands.toml" "pi.toml" "qwen.toml" "vibe.toml"
    ]
}
