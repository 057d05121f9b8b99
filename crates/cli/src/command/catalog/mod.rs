//! `placet catalog`: which agents and templates there are, what each of them says, and what is wrong with a team's own.

mod check;
mod copy;
mod list;
mod plan;
mod show;

use std::path::PathBuf;

use crate::catalogue::Listing;
use crate::context::Who;
use crate::error::CliError;
use crate::out::Out;
use crate::schemas;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// The agents and templates there are, and where they come from
    #[command(after_help = "Examples:\n  placet catalog list\n  placet --home /srv/placet catalog list")]
    List,
    /// One agent: what it can do, what it is held to and how it is started
    #[command(
        after_help = "An agent of your own is a file in the folder `catalog` of the home. Begin with one that ships:\n  placet catalog copy code_agent ours --program /usr/bin/python3\n\nExamples:\n  placet catalog show developer_agent\n  placet --json catalog show goose"
    )]
    Show(show::Args),
    /// Make an agent of your own: copy an existing one under a new id
    #[command(
        after_help = "Writes a file into the folder `catalog` of the home, which you then change as you like. Restart the control plane afterwards.\n\nExamples:\n  placet catalog copy code_agent ours --program /usr/bin/python3\n  placet catalog copy developer_agent reviewer_bot"
    )]
    Copy(copy::Args),
    /// One template: the steps of a plan
    #[command(
        after_help = "A template of your own is a file in the folder `catalog/templates` of the home.\n\nExamples:\n  placet catalog template research_report\n  placet catalog template price_scrape --source"
    )]
    Template(show::Args),
    /// What would be planned for a goal, with whom and why; nothing is recorded
    #[command(
        after_help = "Examples:\n  placet catalog plan 'Implement a parser and test it'\n  placet catalog plan 'Prices of the shop' --template price_scrape --target shop.example\n  placet catalog plan --intent intent.toml --all"
    )]
    Plan(plan::Args),
    /// Everything that is wrong with your own files, with line and hint
    #[command(after_help = "Examples:\n  placet catalog check\n  placet catalog check --catalog ./agents")]
    Check(check::Args),
    /// The JSON Schema of such files, for editors
    #[command(
        after_help = "Editors that know JSON Schema for TOML (Taplo, Even Better TOML) take it from a first line `#:schema ./entry.schema.json`.\n\nExamples:\n  placet catalog schema > .placet/catalog/entry.schema.json\n  placet catalog schema template > .placet/catalog/templates/template.schema.json"
    )]
    Schema {
        /// Of which files
        #[arg(value_enum, default_value_t = Written::Entry)]
        of: Written,
    },
}

/// What a team writes for its catalogue.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Written {
    Entry,
    Template,
}

impl Written {
    const fn schema(self) -> &'static str {
        match self {
            Self::Entry => schemas::ENTRY,
            Self::Template => schemas::TEMPLATE,
        }
    }
}

pub(crate) fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    match command {
        Command::List => list::run(who, out),
        Command::Show(args) => show::agent(&args, who, out),
        Command::Copy(args) => copy::run(&args, who, out),
        Command::Template(args) => show::template(&args, who, out),
        Command::Plan(args) => plan::run(&args, who, out),
        Command::Check(args) => check::run(&args, who, out),
        Command::Schema { of } => {
            out.data(of.schema());
            Ok(())
        }
    }
}

/// What there is to look at: that of the home, or what ships where there is none.
pub(super) fn listing(who: &Who) -> Result<Listing, CliError> {
    match who.home() {
        Ok(home) => Listing::to_look_at(&home.catalogue_dir()),
        Err(_) if who.home.is_none() => Ok(Listing::default()),
        Err(error) => Err(error),
    }
}

/// What plans can be made from: the same, where every agent also fits the profiles and tools of the home.
fn usable(who: &Who) -> Result<Listing, CliError> {
    match who.home() {
        Ok(home) => home.catalogue(),
        Err(_) if who.home.is_none() => Ok(Listing::default()),
        Err(error) => Err(error),
    }
}

/// Where it comes from.
fn origin(file: Option<&PathBuf>) -> String {
    file.map_or_else(|| "built in".to_owned(), |file| file.display().to_string())
}
