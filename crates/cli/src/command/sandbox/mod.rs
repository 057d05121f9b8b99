//! `placet sandbox`: run a command in a cage by hand, see what a cage is made of, list the profiles.
//!
//! Nothing here is governed: no policy judges it, nobody approves it and nothing is recorded. It is for trying out what
//! the worker will do.

mod changes;
mod doors;
mod explain;
mod guard;
mod options;
mod profiles;
mod requests;
mod run;
mod way_out;

pub(super) use changes::Private;
pub(super) use options::not_started;
pub(super) use run::{attend, conclude};

use std::process::ExitCode;

use crate::context::Who;
use crate::error::CliError;
use crate::out::Out;
use crate::schemas;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Run a command in a cage, by hand
    #[command(
        after_help = "Ends with the code of the command, 128 and the signal that ended it, or 124 where a limit did.\n\nExamples:\n  placet sandbox run -- python3 -c 'print(1)'\n  placet sandbox run --workspace . --layered --profile code_development -- make test\n  placet sandbox run --limit wall=10s,memory=256MiB --read-only /srv/data:/mnt/data -- wc -l /mnt/data/a.csv\n  placet sandbox run --door 3128=127.0.0.1:8080 --env http_proxy=http://127.0.0.1:3128 -- curl -s http://example.org\n  placet sandbox run --allow-host example.org -- curl -s https://example.org\n  placet sandbox run --credential api.github.com=env:GH_TOKEN -- curl -s https://api.github.com/user"
    )]
    Run(run::Args),
    /// What a cage would be made of, each part with its reason
    #[command(
        after_help = "Examples:\n  placet sandbox explain\n  placet sandbox explain --profile research_only --workspace . -- grep -r word .\n  placet sandbox explain --steps -- true"
    )]
    Explain(explain::Args),
    /// The profiles there are, where they come from and what they demand of the host
    #[command(
        after_help = "A profile of your own is a file NAME.toml in the folder `profiles` of the home:\n\n  about = \"our builds\"\n  extends = \"code_development\"\n  demands = \"full\"\n\n  [limits]\n  wall = { is = \"2h\", reason = \"the whole suite\" }\n\nExamples:\n  placet sandbox profiles\n  placet --home /srv/placet sandbox profiles"
    )]
    Profiles,
    /// The JSON Schema of profiles, for editors
    #[command(
        after_help = "Editors that know JSON Schema for TOML take it from a first line `#:schema ./profile.schema.json`.\n\nExamples:\n  placet sandbox schema > .placet/profiles/profile.schema.json"
    )]
    Schema,
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<ExitCode, CliError> {
    match command {
        Command::Run(args) => run::run(args, who, out).await,
        Command::Explain(args) => explain::run(args, who, out).map(|()| ExitCode::SUCCESS),
        Command::Profiles => profiles::run(who, out).map(|()| ExitCode::SUCCESS),
        Command::Schema => {
            out.data(schemas::PROFILE);
            Ok(ExitCode::SUCCESS)
        }
    }
}
