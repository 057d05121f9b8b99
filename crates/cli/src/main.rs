//! The `placet` binary: roles (serve, work) and commands, one file each. The only place where all crates meet.

mod agent_files;
mod card;
mod catalogue;
mod changes;
mod command;
mod context;
mod desk;
mod error;
mod events;
mod following;
mod home;
mod intent;
mod journal;
mod open_files;
mod out;
mod planned;
mod profiles;
mod progress;
mod schemas;
mod span;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

use command::Cli;

/// Serving is many small pieces of memory made in one thread and freed in another, which the system's allocator does
/// about a tenth slower overall.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before anything else: this process may be the helper that builds a cage.
    placet_sandbox::helper_entry();
    if launches_at_once() {
        // Ignores errors: the launch reports them.
        let _ = placet_sandbox::Launcher::default().prepare();
    }
    let cli = Cli::parse();
    let out = out::Out::new(cli.json);
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return out.fail(&error::CliError::failed(format!("no runtime could be started: {error}"))),
    };
    let result = runtime.block_on(command::run(cli, &out));
    // Reads of the terminal and of streams may hang in a background thread; nothing of value is lost by not waiting.
    runtime.shutdown_background();
    match result {
        Ok(code) => code,
        Err(error) => out.fail(&error),
    }
}

/// True for `placet sandbox run`, whose cage starts while arguments, profiles and settings are read. Options before these words are not
/// parsed; the cage then starts a few milliseconds later.
fn launches_at_once() -> bool {
    std::env::args_os().skip(1).take(2).eq(["sandbox", "run"])
}
