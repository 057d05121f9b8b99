//! What a file makes of its parent. A child has every wall of its parent: it may add refused calls, read-only files and
//! variables, and ask more of the host. What it may loosen, it loosens in sight: limits, scratch sizes, programs and
//! capabilities are noted as a [`Change`] that readers of the plan are shown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;

use toml::Spanned;

use super::error::Fault;
use super::file::{File, Given, Quantity, Table, Why, reason};
use super::{Capability, Change, Effect, LimitName, Mount, MountKind, Profile, Programs, Text, Variable};
use crate::request::{self, RequestError};
use crate::seccomp;

/// The parent with everything the file says.
pub(super) fn extend(parent: &Profile, name: &str, file: &File) -> Result<Profile, Fault> {
    let mut lineage = parent.lineage.clone();
    lineage.push(parent.name.clone());
    let about = reason(&file.about)?;
    let mut child = Child(Profile { name: name.to_owned().into(), about, lineage, ..parent.clone() });
    child.demands(file)?;
    child.programs(file)?;
    child.capabilities(file)?;
    child.doors(file)?;
    child.network(file)?;
    child.limits(&file.limits)?;
    child.scratch(&file.scratch)?;
    child.variables(&file.variables)?;
    child.read_only(&file.read_only)?;
    child.refused(&file.refused)?;
    Ok(child.0)
}

/// The profile in the making.
struct Child(Profile);

impl Child {
    fn note(&mut self, effect: Effect, what: String, reason: Text) {
        let profile = self.0.name.clone();
        self.0.changes.push(Change { profile, effect, what, reason });
    }

    /// Notes a value that is larger or smaller than before; the same value changes nothing but its reason.
    fn note_size(&mut self, what: &str, (before, after): (u64, u64), show: impl Fn(u64) -> String, reason: Text) {
        let effect = match after.cmp(&before) {
            std::cmp::Ordering::Less => Effect::Tightens,
            std::cmp::Ordering::Equal => return,
            std::cmp::Ordering::Greater => Effect::Loosens,
        };
        self.note(effect, format!("{what}: {} instead of {}", show(after), show(before)), reason);
    }

    fn demands(&mut self, file: &File) -> Result<(), Fault> {
        let Some(written) = &file.demands else { return Ok(()) };
        let (wanted, before) = (*written.get_ref(), self.0.demands);
        if wanted < before {
            let message = format!("it demands `{wanted}`, but what it extends demands `{before}`");
            return Err(Fault::at(written.span(), message).hint("a profile never demands less than its parent"));
        }
        if wanted > before {
            self.note(Effect::Tightens, format!("demands a host of tier {wanted}"), self.0.about.clone());
        }
        self.0.demands = wanted;
        Ok(())
    }

    fn programs(&mut self, file: &File) -> Result<(), Fault> {
        let Some(written) = &file.programs else { return Ok(()) };
        let (Given { is, reason: why }, before) = (written.get_ref(), self.0.programs);
        let why = reason(why)?;
        match (before, is) {
            (Programs::Allowed, Programs::Refused) => {
                self.note(Effect::Tightens, "programs written in the cage cannot be started".into(), why);
            }
            (Programs::Refused, Programs::Allowed) => {
                self.note(Effect::Loosens, "programs written in the cage can be started".into(), why);
            }
            (Programs::Allowed, Programs::Allowed) | (Programs::Refused, Programs::Refused) => {}
        }
        self.0.set_programs(*is);
        Ok(())
    }

    fn capabilities(&mut self, file: &File) -> Result<(), Fault> {
        let Some(written) = &file.capabilities else { return Ok(()) };
        let Given { is, reason: why } = written.get_ref();
        let (wanted, why): (BTreeSet<Capability>, _) = (is.iter().copied().collect(), reason(why)?);
        for more in wanted.difference(&self.0.capabilities.clone()) {
            self.note(Effect::Loosens, format!("tools may have the capability {more}"), why.clone());
        }
        for less in self.0.capabilities.clone().difference(&wanted) {
            self.note(Effect::Tightens, format!("tools may not have the capability {less}"), why.clone());
        }
        self.0.capabilities = wanted;
        Ok(())
    }

    fn doors(&mut self, file: &File) -> Result<(), Fault> {
        let Some(written) = &file.doors else { return Ok(()) };
        let Given { is, reason: why } = written.get_ref();
        let (wanted, why): (BTreeSet<u16>, _) = (is.iter().copied().collect(), reason(why)?);
        let outside = |port: &&u16| self.0.doors.as_ref().is_some_and(|before| !before.contains(port));
        if let Some(port) = wanted.iter().find(|port| **port == 0 || outside(port)) {
            let message = format!("what it extends does not allow a door at port {port}");
            return Err(Fault::at(written.span(), message).hint("a profile may allow fewer doors than its parent"));
        }
        let ports = wanted.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let listed = if ports.is_empty() { "none".to_owned() } else { ports };
        self.note(Effect::Tightens, format!("doors that may be asked for: {listed}"), why);
        self.0.doors = Some(wanted);
        Ok(())
    }

    fn network(&mut self, file: &File) -> Result<(), Fault> {
        let Some(written) = &file.network else { return Ok(()) };
        let Given { is, reason: why } = written.get_ref();
        let (wanted, why): (BTreeSet<String>, _) = (is.iter().cloned().collect(), reason(why)?);
        let outside = |host: &&String| self.0.network.as_ref().is_some_and(|before| !before.contains(*host));
        if let Some(host) = wanted.iter().find(outside) {
            let message = format!("what it extends does not name `{host}` in its network");
            return Err(Fault::at(written.span(), message).hint("a profile may name fewer hosts than its parent"));
        }
        let hosts = wanted.iter().cloned().collect::<Vec<_>>().join(", ");
        let listed = if hosts.is_empty() { "nobody".to_owned() } else { hosts };
        self.note(Effect::Tightens, format!("programs may be let reach at most: {listed}"), why);
        self.0.network = Some(wanted);
        Ok(())
    }

    fn limits(&mut self, limits: &Table<Quantity>) -> Result<(), Fault> {
        for (key, Given { is: Quantity(text), reason: why }) in limits {
            let name: LimitName = key.get_ref().parse().map_err(|error| fault(key, error))?;
            let value = name.parse(text).map_err(|error| fault(key, error))?;
            let (before, why) = (name.of(&self.0.limits).unwrap_or(u64::MAX), reason(why)?);
            let show = |value| if value == u64::MAX { "no limit".to_owned() } else { name.show(value) };
            self.note_size(&format!("limit {name}"), (before, value), show, why.clone());
            self.0.limits = name.set(self.0.limits, value);
            self.0.limit_reasons.insert(name, why);
        }
        Ok(())
    }

    fn scratch(&mut self, sizes: &Table<Quantity>) -> Result<(), Fault> {
        for (key, Given { is: Quantity(text), reason: why }) in sizes {
            let size = LimitName::Memory.parse(text).map_err(|error| fault(key, error))?;
            let why = reason(why)?;
            let Some(place) = self.0.scratch_at(key.get_ref()) else {
                let places: Vec<_> = self.0.scratch_places().collect();
                let message = format!("`{}` is no scratch place: they are {}", key.get_ref(), places.join(", "));
                return Err(Fault::at(key.span(), message));
            };
            let before = std::mem::replace(place.size_bytes, size);
            *place.reason = why.clone();
            self.note_size(&format!("scratch {}", key.get_ref()), (before, size), |n| LimitName::Memory.show(n), why);
        }
        Ok(())
    }

    fn variables(&mut self, variables: &Table<String>) -> Result<(), Fault> {
        for (key, Given { is: value, reason: why }) in variables {
            let (name, why) = (key.get_ref(), reason(why)?);
            request::check_variable(name, value).map_err(|error| fault(key, error))?;
            self.note(Effect::Adds, format!("variable {name}={value}"), why.clone());
            self.0.env.retain(|variable| variable.name != *name);
            self.0.env.push(Variable { name: name.clone().into(), value: value.clone().into(), reason: why });
        }
        Ok(())
    }

    fn read_only(&mut self, mounts: &Table<String>) -> Result<(), Fault> {
        for (key, Given { is: host, reason: why }) in mounts {
            let (at, why) = (key.get_ref(), reason(why)?);
            self.check_mount(host, at).map_err(|error| fault(key, error))?;
            self.note(Effect::Adds, format!("{at}, read-only, from {host} of the host"), why.clone());
            let what = MountKind::HostAt(host.clone().into());
            self.0.mounts.push(Mount { at: at.clone().into(), what, reason: why });
        }
        Ok(())
    }

    /// The same places as for requests, and none twice.
    fn check_mount(&self, host: &str, at: &str) -> Result<(), RequestError> {
        request::check_read_only(Path::new(host), Path::new(at))?;
        let taken = self.0.own_places().any(|other| crate::workspace::overlaps(other, Path::new(at)));
        if taken { Err(RequestError::MountedTwice(at.into())) } else { Ok(()) }
    }

    fn refused(&mut self, calls: &BTreeMap<Spanned<String>, Why>) -> Result<(), Fault> {
        for (key, Why { reason: why }) in calls {
            let (name, why) = (key.get_ref(), reason(why)?);
            if self.0.syscalls.iter().any(|rule| rule.name == *name && rule.when.is_empty()) {
                continue;
            }
            let Some(rule) = seccomp::refusable(name) else {
                let message = format!("the system call `{name}` is not one that can be refused besides");
                return Err(Fault::at(key.span(), message).hint(format!("they are {}", seccomp::refusable_names())));
            };
            self.note(Effect::Adds, format!("refused system call {name}"), why.clone());
            self.0.syscalls.push(rule);
            self.0.syscall_reasons.insert(rule.name, why);
        }
        Ok(())
    }
}

fn fault(key: &Spanned<String>, error: impl Display) -> Fault {
    Fault::at(key.span(), error.to_string())
}
