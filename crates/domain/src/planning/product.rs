//! What planning leaves: one product for each of its six steps. Each is recorded as one entry of the ledger, so that whoever
//! reads a run sees how its plan came to be, and whoever approves it approves exactly that.

use serde::{Deserialize, Serialize};

use super::choose::Selection;
use super::configure::CageChoice;
use super::encode::Task;
use super::estimate::Estimate;
use super::intent::Intent;
use super::subtask::Subtask;
use crate::catalogue::{Bounds, NetworkUse};

/// The product of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    Intent(Box<Intent>),
    Task(Box<Task>),
    Subtasks(Vec<Subtask>),
    Selection(Box<Selection>),
    Cage(Box<CageChoice>),
    Estimate(Box<Estimate>),
}

impl Product {
    /// What its entry in the ledger is called.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Intent(_) => "run.intent_stated",
            Self::Task(_) => "run.encoded",
            Self::Subtasks(_) => "run.decomposed",
            Self::Selection(_) => "run.agent_selected",
            Self::Cage(_) => "run.cage_configured",
            Self::Estimate(_) => "run.estimated",
        }
    }
}

/// All products of a run that was planned, as far as they are recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Products {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subtasks: Vec<Subtask>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cage: Option<CageChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
}

impl Products {
    /// What the agent is held to: what its entry says, and of networks and cages only what the plan was
    /// configured with.
    pub fn bounds(&self) -> Option<Bounds> {
        let bounds = self.selection.as_ref()?.bounds.clone()?;
        let network = self.cage.as_ref().map_or(NetworkUse::None, |cage| cage.network.clone());
        let cages = self.cage.as_ref().and_then(|cage| cage.cages.clone());
        Some(Bounds { network, cages, ..bounds })
    }

    pub(crate) fn keep(&mut self, product: &Product) {
        match product {
            Product::Intent(intent) => self.intent = Some((**intent).clone()),
            Product::Task(task) => self.task = Some((**task).clone()),
            Product::Subtasks(subtasks) => self.subtasks.clone_from(subtasks),
            Product::Selection(selection) => self.selection = Some((**selection).clone()),
            Product::Cage(cage) => self.cage = Some((**cage).clone()),
            Product::Estimate(estimate) => self.estimate = Some((**estimate).clone()),
        }
    }
}
