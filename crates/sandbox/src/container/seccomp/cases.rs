//! Which uses of a system call are meant, in the one form every engine understands: any of some cases, each a
//! comparison of masked bits per argument.
//!
//! Engines read two comparisons of one argument as alternatives, although a filter of ours means both. Comparisons of
//! masked bits can always be merged into one per argument, and "any other value" is a union of them: so conditions are
//! brought into that form, and nothing is left that an engine could read in another way.

use std::collections::BTreeMap;

use crate::seccomp::{Comparison, Condition};

/// Values whose bits below the mask are these. Only the low half of an argument counts, as in [`Condition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    pub(super) mask: u32,
    pub(super) value: u32,
}

impl Bits {
    fn and(self, other: Self) -> Option<Self> {
        let conflict = (self.value ^ other.value) & self.mask & other.mask;
        (conflict == 0).then_some(Self { mask: self.mask | other.mask, value: self.value | other.value })
    }

    fn covers(self, other: Self) -> bool {
        self.mask & !other.mask == 0 && (self.value ^ other.value) & self.mask == 0
    }
}

/// All of these arguments have these bits; without any, every use is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Case(pub(super) BTreeMap<u8, Bits>);

impl Case {
    fn one(argument: u8, mask: u32, value: u32) -> Self {
        Self(BTreeMap::from([(argument, Bits { mask, value })]))
    }

    fn and(&self, other: &Self) -> Option<Self> {
        let mut both = self.0.clone();
        for (argument, bits) in &other.0 {
            let merged = both.get(argument).map_or(Some(*bits), |own| own.and(*bits))?;
            both.insert(*argument, merged);
        }
        Some(Self(both))
    }

    fn covers(&self, other: &Self) -> bool {
        self.0.iter().all(|(argument, bits)| other.0.get(argument).is_some_and(|theirs| bits.covers(*theirs)))
    }
}

/// Any of these cases; without any, no use is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cases(pub(super) Vec<Case>);

impl Cases {
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    pub(super) fn every() -> Self {
        Self(vec![Case::default()])
    }

    fn when(condition: &Condition) -> Self {
        let argument = condition.argument;
        match condition.is {
            Comparison::Equal(value) => Self(vec![Case::one(argument, u32::MAX, value)]),
            Comparison::Other(value) => Self::all_but(argument, value),
            Comparison::HasBit(bit) => Self(vec![Case::one(argument, bit, bit)]),
            Comparison::LacksBit(bit) => Self(vec![Case::one(argument, bit, 0)]),
        }
    }

    fn unless(condition: &Condition) -> Self {
        let opposite = match condition.is {
            Comparison::Equal(value) => Comparison::Other(value),
            Comparison::Other(value) => Comparison::Equal(value),
            Comparison::HasBit(bit) => Comparison::LacksBit(bit),
            Comparison::LacksBit(bit) => Comparison::HasBit(bit),
        };
        Self::when(&Condition { argument: condition.argument, is: opposite })
    }

    /// A different value differs in a highest bit: one case for each bit that can be.
    fn all_but(argument: u8, value: u32) -> Self {
        let differs_first_at = |place: u32| {
            let mask = u32::MAX << place;
            Case::one(argument, mask, (value ^ (1 << place)) & mask)
        };
        Self((0..u32::BITS).map(differs_first_at).collect())
    }

    /// The uses a rule means: any alternative, with all of its conditions.
    pub(super) fn meant_by(alternatives: &[&[Condition]]) -> Self {
        let each = |conditions: &&[Condition]| {
            conditions.iter().map(Self::when).fold(Self::every(), |both, condition| both.and(&condition))
        };
        alternatives.iter().map(each).fold(Self::none(), Self::or)
    }

    /// The uses a rule leaves alone.
    pub(super) fn spared_by(alternatives: &[&[Condition]]) -> Self {
        let each = |conditions: &&[Condition]| conditions.iter().map(Self::unless).fold(Self::none(), Self::or);
        alternatives.iter().map(each).fold(Self::every(), |both, spared| both.and(&spared))
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        let pairs = self.0.iter().flat_map(|one| other.0.iter().filter_map(|two| one.and(two)));
        pairs.fold(Self::none(), |mut kept, case| {
            kept.add(case);
            kept
        })
    }

    fn or(mut self, other: Self) -> Self {
        other.0.into_iter().for_each(|case| self.add(case));
        self
    }

    /// What another case covers adds nothing.
    fn add(&mut self, case: Case) {
        if !self.0.iter().any(|other| other.covers(&case)) {
            self.0.retain(|other| !case.covers(other));
            self.0.push(case);
        }
    }
}
