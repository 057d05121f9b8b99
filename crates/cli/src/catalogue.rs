//! The catalogue of a home: the agents and templates that ship, and the files in `catalog/` and `catalog/templates/`. That
//! an agent of a team's own names a profile and tools that are there is checked here: the domain knows neither cages nor
//! homes, and a run would notice only when it is too late.

use std::fs;
use std::path::{Path, PathBuf};

use placet_control::{KitFile, Kits};
use placet_domain::catalogue::{Catalogue, Entry};
use placet_domain::datafile::{Problem, Problems};
use placet_domain::planning::Templates;
use placet_domain::proposal::{Tool, Tools};
use placet_sandbox::Profiles;

use crate::agent_files::{found, unreadable};
use crate::error::CliError;
use crate::home::read;
use crate::profiles::{files_in, is_good_for};

/// Everything a plan is made from.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) agents: Catalogue,
    pub(crate) templates: Templates,
}

/// Names of files and their texts.
type Texts = Vec<(String, String)>;

impl Listing {
    /// What ships, and the files of a folder; all that is wrong with them is told at once. A folder that is not there
    /// holds none.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self, CliError> {
        Self::of(&texts(folder)?, &texts(&templates_of(folder))?)
    }

    fn of(agents: &Texts, templates: &Texts) -> Result<Self, CliError> {
        let (agents, templates) = (Catalogue::with(borrowed(agents)), Templates::with(borrowed(templates)));
        match (agents, templates) {
            (Ok(agents), Ok(templates)) => Ok(Self { agents, templates }),
            (agents, templates) => Err(wrong(agents.err().into_iter().chain(templates.err()))),
        }
    }

    /// Reads the catalogue for read-only commands and skips empty files: a shell creates an empty one before `catalog show … > FILE` writes
    /// to it.
    pub(crate) fn to_look_at(folder: &Path) -> Result<Self, CliError> {
        let written = |texts: Texts| texts.into_iter().filter(|(_, text)| !text.trim().is_empty()).collect();
        Self::of(&written(texts(folder)?), &written(texts(&templates_of(folder))?))
    }

    /// The same, where every agent of the folder also fits the profiles and tools of a home.
    pub(crate) fn fitting(folder: &Path, profiles: &Profiles, tools: &Tools) -> Result<Self, CliError> {
        let listing = Self::in_folder(folder)?;
        let mut problems = Vec::new();
        for (file, text) in texts(folder)? {
            let own = listing.agents.iter().filter(|entry| listing.agents.file_of(&entry.id) == Some(file.as_str()));
            let written = Written { file: &file, text: &text };
            problems.extend(own.flat_map(|entry| misfits(entry, &written, profiles, tools)));
        }
        Problems::check(problems).map_err(|problems| wrong([problems]))?;
        Ok(listing)
    }
}

impl Listing {
    /// The files that agents of the folder are started with. Relative to the folder, because that is what a team copies.
    pub(crate) fn kits(&self, folder: &Path) -> Result<Kits, CliError> {
        let with_files = self.agents.iter().filter(|entry| !entry.launch.files.is_empty());
        with_files.map(|entry| Ok((entry.id.clone(), kit(entry, folder)?))).collect()
    }
}

fn kit(entry: &Entry, folder: &Path) -> Result<Vec<KitFile>, CliError> {
    let named: Vec<PathBuf> = entry.launch.files.iter().map(|path| folder.join(path.as_str())).collect();
    let about = |error: CliError| error.hint(format!("it is one of the `files` of the agent `{}`", entry.id));
    let read = |(path, from): (String, PathBuf)| {
        let bytes = fs::read(&from).map_err(|error| unreadable(&from, &error))?;
        Ok(KitFile { path, bytes: bytes.into() })
    };
    found(&named).and_then(|files| files.into_iter().map(read).collect()).map_err(about)
}

/// Where a team keeps templates of its own.
fn templates_of(folder: &Path) -> PathBuf {
    folder.join("templates")
}

fn texts(folder: &Path) -> Result<Texts, CliError> {
    files_in(folder)?.iter().map(|path| Ok((path.display().to_string(), read(path)?))).collect()
}

fn borrowed(texts: &Texts) -> impl Iterator<Item = (&str, &str)> {
    texts.iter().map(|(file, text)| (file.as_str(), text.as_str()))
}

fn wrong(problems: impl IntoIterator<Item = Problems>) -> CliError {
    let said: Vec<String> = problems.into_iter().map(|problems| problems.to_string()).collect();
    CliError::usage(format!("the catalogue is refused\n{}", said.join("\n")))
        .hint("put it right, then look again with `placet catalog check`")
}

/// A file, for whoever has something to say about a place in it.
struct Written<'t> {
    file: &'t str,
    text: &'t str,
}

impl Written<'_> {
    fn problem(&self, key: &str, message: String, hint: String) -> Problem {
        Problem::at_key(self.file, self.text, key, message, hint)
    }
}

/// What an agent names that is not there.
fn misfits(entry: &Entry, written: &Written<'_>, profiles: &Profiles, tools: &Tools) -> Vec<Problem> {
    let unknown = entry.tools.iter().filter(|tool| tools.get(tool).is_none()).map(|tool| {
        let message = format!("there is no tool `{tool}` in tools.toml");
        written.problem("tools", message, "declare it there, or take it off the list".to_owned())
    });
    let agents_own = entry.launch.profile.iter().filter(|name| profiles.get(name.as_str()).is_none()).map(|name| {
        let hint = format!("name one of {}, or write profiles/{name}.toml in the home", profiles.listed());
        written.problem("launch.profile", format!("there is no profile `{name}`"), hint)
    });
    let wider = entry.tools.iter().filter_map(|name| wider_tool(entry, tools.get(name)?, written, profiles));
    unknown.chain(agents_own).chain(cage_misfit(entry, written, profiles)).chain(wider).collect()
}

/// What runs in a wider cage than the entry's is refused whenever it is proposed; better to hear of it now.
fn wider_tool(entry: &Entry, tool: &Tool, written: &Written<'_>, profiles: &Profiles) -> Option<Problem> {
    let (own, widest) = (profiles.get(&tool.profile)?, profiles.get(entry.cage.profile.as_str())?);
    let (program, own_name, widest_name) = (&tool.program, own.name(), widest.name());
    (!own.is_within(widest)).then(|| {
        let message = format!("`{program}` runs in the profile `{own_name}`, which is wider than `{widest_name}`");
        let hint = "name a wider profile for the cage, or another one for the tool in tools.toml".to_owned();
        written.problem("cage.profile", message, hint)
    })
}

fn cage_misfit(entry: &Entry, written: &Written<'_>, profiles: &Profiles) -> Option<Problem> {
    let name = entry.cage.profile.as_str();
    let Some(profile) = profiles.get(name) else {
        let message = format!("there is no profile `{name}`");
        let hint = format!("name one of {}, or write profiles/{name}.toml in the home", profiles.listed());
        return Some(written.problem("cage.profile", message, hint));
    };
    let lacks = entry.cage.capabilities.iter().find(|wanted| !is_good_for(profile, **wanted))?;
    let message = format!("the profile `{name}` is not meant for {lacks}");
    let hint = "name a profile with that capability; `placet sandbox profiles` lists them".to_owned();
    Some(written.problem("cage.capabilities", message, hint))
}

#[cfg(test)]
mod tests {
    use placet_domain::catalogue::{CageCapability, shipped};
    use placet_domain::policy::DEFAULT_TOOLS;

    use super::*;

    #[test]
    fn both_crates_have_one_word_for_each_capability_of_a_cage() {
        let profiles = Profiles::default();
        let known = |word: &str| {
            profiles.iter().any(|profile| profile.capabilities().iter().any(|has| has.to_string() == word))
        };
        assert!(CageCapability::ALL.iter().all(|capability| known(capability.as_str())));
    }

    #[test]
    fn what_ships_fits_the_profiles_that_ship() {
        let (listing, profiles) = (Listing::default(), Profiles::default());
        let tools = Tools::parse(DEFAULT_TOOLS).unwrap();
        let written = Written { file: "", text: "" };
        for entry in listing.agents.iter() {
            assert_eq!(misfits(entry, &written, &profiles, &tools), [], "{}", entry.id);
        }
    }

    #[test]
    fn c7_a_tool_that_runs_in_a_wider_cage_than_its_agents_is_told_of_before_anything_is_planned() {
        let (_, text) = shipped().iter().find(|(file, _)| *file == "browser_agent.toml").unwrap();
        let text = text
            .replace("id = \"browser_agent\"", "id = \"ours\"")
            .replace("[\"execute_code\", \"screenshots\"]", "[]");
        let text = text.replace("profile = \"browser_automation\"", "profile = \"research_only\"");
        let agents = Catalogue::with([("ours.toml", text.as_str())]).unwrap();
        let entry = agents.get(&"ours".parse().unwrap()).unwrap();
        let tools = Tools::parse(DEFAULT_TOOLS).unwrap();
        let found = misfits(entry, &Written { file: "ours.toml", text: &text }, &Profiles::default(), &tools);
        assert_eq!(found.len(), entry.tools.len(), "each of them runs in `default`, where programs can be started");
        assert!(found[0].to_string().contains("wider than `research_only`"), "{}", found[0]);
    }

    #[test]
    fn a_folder_that_is_not_there_holds_nothing_of_its_own() {
        let listing = Listing::in_folder(Path::new("/nowhere/at/all")).unwrap();
        assert_eq!(listing.agents, Catalogue::default());
        assert_eq!(listing.templates, Templates::default());
    }
}
