//! The templates that ship. They are files of the repository, read in review like any other.

macro_rules! shipped {
    ($($file:literal)*) => { &[$(($file, include_str!(concat!("../../catalogue/templates/", $file)))),*] };
}

/// The shipped templates: names of files and their texts.
pub const fn shipped_templates() -> &'static [(&'static str, &'static str)] {
    shipped!["code_change.toml" "price_scrape.toml" "research_report.toml"]
}
