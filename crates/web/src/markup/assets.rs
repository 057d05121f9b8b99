//! The files that pages refer to: one style, one script, one more where a passkey is asked for, one icon. Their addresses carry their digests, so that a browser keeps them for
//! good and never mixes two versions.

use std::sync::LazyLock;

use placet_domain::digest::Digest;

/// A file with the address it is served under.
#[derive(Debug)]
pub(crate) struct Asset {
    path: String,
    pub(crate) kind: &'static str,
    pub(crate) bytes: &'static [u8],
}

impl Asset {
    fn new(name: &str, end: &str, kind: &'static str, bytes: &'static [u8]) -> Self {
        let digest = Digest::of(bytes).to_string();
        let hex = digest.trim_start_matches("sha256:");
        Self { path: format!("/assets/{name}-{}.{end}", &hex[..16]), kind, bytes }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

pub(crate) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("placet", "css", "text/css; charset=utf-8", include_bytes!("../../assets/placet.css")));
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("placet", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/placet.js"))
});
/// Only where a passkey is asked for.
pub(crate) static PASSKEY: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("passkey", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/passkey.js"))
});
pub(crate) static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", include_bytes!("../../assets/icon.svg")));

/// The file of this address.
pub(crate) fn find(path: &str) -> Option<&'static Asset> {
    [&STYLE, &SCRIPT, &PASSKEY, &ICON].into_iter().map(|asset| &**asset).find(|asset| asset.path() == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_carry_digests_and_others_lead_nowhere() {
        assert!(find(STYLE.path()).is_some_and(|asset| asset.kind.starts_with("text/css")));
        assert!(find("/assets/placet.css").is_none());
    }

    #[test]
    fn c16_what_every_page_needs_is_small() {
        let bytes: usize = [&STYLE, &SCRIPT, &PASSKEY, &ICON].iter().map(|asset| asset.bytes.len()).sum();
        // With an inbox of less than 50 KB all of it stays below 100.
        assert!(bytes < 44_000, "{bytes}");
    }
}
