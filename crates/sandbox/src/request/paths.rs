//! The paths of a request: which ones it names, and whether they can be used at all.

use std::path::{Component, Path, PathBuf};

use super::{LAYER_FREE_ROOTS, READ_ONLY_ROOTS, Request, RequestError};
use crate::rules::Access;
use crate::workspace::{Layers, Workspace, overlaps};

impl Request {
    pub(super) fn check_paths(&self) -> Result<(), RequestError> {
        self.host_paths().try_for_each(|host| check_host(host))?;
        self.read_only.iter().try_for_each(|mount| check_read_only(&mount.host, &mount.cage))?;
        if let Some(place) = self.layers.iter().map(|layer| &layer.at).find(|place| !is_layer_place(place)) {
            return Err(RequestError::LayerPath(place.clone()));
        }
        self.check_layers()?;
        let places = self.read_only.iter().map(|mount| &mount.cage).chain(self.layers.iter().map(|layer| &layer.at));
        match first_overlap(&places.collect::<Vec<_>>()) {
            Some(place) => Err(RequestError::MountedTwice(place)),
            None => Ok(()),
        }
    }

    fn check_layers(&self) -> Result<(), RequestError> {
        self.all_layers().try_for_each(Layers::check)?;
        let private = self.all_layers().flat_map(|layers| [&layers.upper, &layers.work]);
        match first_overlap(&private.collect::<Vec<_>>()) {
            Some(path) => Err(RequestError::LayerShared(path)),
            None => Ok(()),
        }
    }

    /// A directory of the host that is written at once has no place of the cage's own to mount on: whoever removes or
    /// replaces a file there takes its cover away, and what is absent has none.
    pub(super) fn check_rules(&self) -> Result<(), RequestError> {
        self.rules.check()?;
        let restricted = self.rules.elsewhere == Access::Writable && self.rules.restrict();
        match &self.workspace {
            Some(Workspace::Direct(_)) | None if restricted => Err(RequestError::RulesNeedLayers),
            Some(Workspace::Direct(_) | Workspace::Layered(_)) | None => Ok(()),
        }
    }

    /// The layers of the workspace and all others.
    pub(crate) fn all_layers(&self) -> impl Iterator<Item = &Layers> {
        let of_workspace = self.workspace.iter().filter_map(|workspace| match workspace {
            Workspace::Direct(_) => None,
            Workspace::Layered(layers) => Some(layers),
        });
        of_workspace.chain(self.layers.iter().map(|layer| &layer.layers))
    }

    /// Every host path the request names.
    pub(crate) fn host_paths(&self) -> impl Iterator<Item = &PathBuf> {
        let direct = self.workspace.iter().filter_map(|workspace| match workspace {
            Workspace::Direct(host) => Some(host),
            Workspace::Layered(_) => None,
        });
        let layered = self.all_layers().flat_map(Layers::hosts);
        direct.chain(layered).chain(self.read_only.iter().map(|mount| &mount.host))
    }

    /// The same, to be replaced by what they lead to.
    pub(crate) fn host_paths_mut(&mut self) -> Vec<&mut PathBuf> {
        let of_workspace = self.workspace.iter_mut().flat_map(|workspace| match workspace {
            Workspace::Direct(host) => vec![host],
            Workspace::Layered(layers) => layers.hosts_mut().into(),
        });
        let layered = self.layers.iter_mut().flat_map(|layer| layer.layers.hosts_mut());
        of_workspace.chain(layered).chain(self.read_only.iter_mut().map(|mount| &mut mount.host)).collect()
    }
}

fn check_host(host: &Path) -> Result<(), RequestError> {
    let usable = host.is_absolute() && host.to_str().is_some();
    if usable { Ok(()) } else { Err(RequestError::HostPath(host.to_owned())) }
}

/// Whether a request, or a profile that somebody wrote, may show this host file at this place.
pub(crate) fn check_read_only(host: &Path, cage: &Path) -> Result<(), RequestError> {
    check_host(host)?;
    if is_free_place(cage) { Ok(()) } else { Err(RequestError::CagePath(cage.to_owned())) }
}

fn first_overlap(paths: &[&PathBuf]) -> Option<PathBuf> {
    let repeated = |index: usize| paths[..index].iter().any(|other| overlaps(other, paths[index]));
    (0..paths.len()).find(|index| repeated(*index)).map(|index| paths[index].clone())
}

fn is_free_place(cage: &Path) -> bool {
    let below = |root: &str| cage.starts_with(root) && cage != Path::new(root);
    is_plain(cage) && READ_ONLY_ROOTS.iter().any(|root| below(root))
}

fn is_layer_place(cage: &Path) -> bool {
    is_plain(cage) && !LAYER_FREE_ROOTS.iter().any(|root| overlaps(cage, Path::new(root)))
}

/// Absolute, in text, and without steps upwards.
fn is_plain(cage: &Path) -> bool {
    let plain = cage.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    plain && cage.is_absolute() && cage.to_str().is_some()
}
