//! JSON Schemas of the files that a team writes for a home, for editors. They tell shapes; what a file names must also be there, which
//! `placet catalog check` and `placet sandbox profiles` look at.

/// An agent of the catalogue.
pub(crate) const ENTRY: &str = include_str!("../schemas/catalog_entry.schema.json");
/// A template of a plan.
pub(crate) const TEMPLATE: &str = include_str!("../schemas/catalog_template.schema.json");
/// A profile of cages.
pub(crate) const PROFILE: &str = include_str!("../schemas/sandbox_profile.schema.json");

#[cfg(test)]
mod agreement;
