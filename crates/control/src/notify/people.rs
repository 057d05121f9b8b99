//! Who of the people in the settings is told of something: whom it concerns, or, while they are away, whoever stands in for them. Pure.
//!
//! In the settings people stand by the id of their identity, or by a name. A name is somebody's only if nobody else has it or had it: nobody
//! gets the letters of another by being called the same.

use std::collections::BTreeMap;

use placet_domain::identity::Identity;
use placet_domain::time::Timestamp;

use super::{Absent, MailAddress, Recipient};

/// How many people something still needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    One,
    Several,
}

/// Everybody, and the addresses that a route has.
pub(crate) struct People<'a> {
    everybody: &'a [Identity],
    addresses: BTreeMap<String, MailAddress>,
    now: Timestamp,
}

impl<'a> People<'a> {
    pub(crate) const fn new(
        everybody: &'a [Identity],
        addresses: BTreeMap<String, MailAddress>,
        now: Timestamp,
    ) -> Self {
        Self { everybody, addresses, now }
    }

    /// Names that are nobody's, or not of one alone.
    pub(crate) fn unclear(&self) -> impl Iterator<Item = &String> {
        let is_somebody = |id: &str| self.everybody.iter().any(|person| person.id.to_string() == id);
        self.addresses.keys().filter(move |name| !self.is_of_one(name) && !is_somebody(name))
    }

    /// Those who have an address here.
    pub(crate) fn reached(&self) -> impl Iterator<Item = &'a Identity> {
        self.everybody.iter().filter(|person| !person.revoked && self.recipient(person).is_some())
    }

    /// Who is told of something that concerns this person, and for whom. Where several are asked a stand-in is one of them, and not
    /// enough: whoever is away is told too.
    pub(crate) fn told_for(
        &self,
        person: &Identity,
        asked: Asked,
        concerns: impl Fn(&Identity) -> bool,
    ) -> Vec<(Recipient, Option<Absent>)> {
        let oneself = self.recipient(person).map(|to| (to, None));
        let Some(away) = person.away_at(self.now) else { return oneself.into_iter().collect() };
        let is_there = |other: &&Identity| !other.revoked && other.away_at(self.now).is_none();
        let stand_in = self.everybody.iter().find(|other| other.id == away.to).filter(is_there);
        let Some(to) = stand_in.filter(|other| concerns(other)).and_then(|other| self.recipient(other)) else {
            return oneself.into_iter().collect();
        };
        let instead = (to, Some(Absent { name: person.name.clone(), until: away.until }));
        match asked {
            Asked::One => vec![instead],
            Asked::Several => std::iter::once(instead).chain(oneself).collect(),
        }
    }

    pub(crate) fn recipient(&self, who: &Identity) -> Option<Recipient> {
        let key = who.id.to_string();
        let by_name = || self.addresses.get(&who.name).filter(|_| self.is_of_one(&who.name));
        let address = self.addresses.get(&key).or_else(by_name)?.clone();
        Some(Recipient::Person { key, name: who.name.clone(), address })
    }

    /// Also somebody who is revoked had the name.
    fn is_of_one(&self, name: &str) -> bool {
        self.everybody.iter().filter(|other| other.name == name).count() == 1
    }
}

#[cfg(test)]
mod tests {
    use placet_domain::digest::Digest;
    use placet_domain::id::IdentityId;
    use placet_domain::identity::{Away, Lineage, Reach, Role};

    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000);

    fn identity(number: u128, name: &str) -> Identity {
        Identity {
            id: IdentityId::from_uuid(uuid::Uuid::from_u128(number)),
            name: name.to_owned(),
            roles: [Role::Reviewer].into(),
            reach: Reach::Everywhere,
            lineage: Lineage::default(),
            token: Digest::of(b"t"),
            revoked: false,
            doors: Box::default(),
            away: None,
            declaration: None,
        }
    }

    fn away(person: Identity, to: &Identity) -> Identity {
        Identity { away: Some(Away { to: to.id, until: NOW.plus_ms(60_000), unreached: false }), ..person }
    }

    fn addresses(names: &[&str]) -> BTreeMap<String, MailAddress> {
        names.iter().map(|name| ((*name).to_owned(), format!("{name}@example.org").parse().unwrap())).collect()
    }

    /// Who is told of what concerns the first of them, and whether as a stand-in.
    fn told(everybody: &[Identity], asked: Asked, concerns: impl Fn(&Identity) -> bool) -> Vec<(String, bool)> {
        let people = People::new(everybody, addresses(&["ada", "bob"]), NOW);
        let told = people.told_for(&everybody[0], asked, concerns);
        told.into_iter().map(|(to, absent)| (to.label(), absent.is_some())).collect()
    }

    fn is(name: &str, stands_in: bool) -> (String, bool) {
        (name.to_owned(), stands_in)
    }

    #[test]
    fn a13_a_stand_in_is_told_instead_while_they_are_there_and_can_decide_it() {
        let (ada, bob) = (identity(1, "ada"), identity(2, "bob"));
        let everybody = [away(ada.clone(), &bob), bob.clone()];
        assert_eq!(told(&everybody, Asked::One, |_| true), [is("bob", true)]);
        assert_eq!(told(&everybody, Asked::One, |who| who.name != "bob"), [is("ada", false)]);
        assert_eq!(told(&[ada.clone(), bob.clone()], Asked::One, |_| true), [is("ada", false)]);
        let gone = Identity { revoked: true, ..bob };
        assert_eq!(told(&[away(ada, &gone), gone], Asked::One, |_| true), [is("ada", false)]);
    }

    #[test]
    fn a13_who_is_away_stands_in_for_nobody() {
        let (ada, bob, eve) = (identity(1, "ada"), identity(2, "bob"), identity(3, "eve"));
        let everybody = [away(ada, &bob), away(bob, &eve), eve];
        assert_eq!(told(&everybody, Asked::One, |_| true), [is("ada", false)]);
    }

    #[test]
    fn a13_where_several_are_asked_who_is_away_is_told_too() {
        let (ada, bob) = (identity(1, "ada"), identity(2, "bob"));
        let everybody = [away(ada, &bob), bob];
        assert_eq!(told(&everybody, Asked::Several, |_| true), [is("bob", true), is("ada", false)]);
    }

    #[test]
    fn a13_a_name_that_two_have_or_had_is_nobodys_and_said_to_be_unclear() {
        let (ada, bob) = (identity(1, "ada"), identity(2, "bob"));
        let former = Identity { revoked: true, ..identity(3, "ada") };
        let everybody = [ada, bob.clone(), former];
        let people = People::new(&everybody, addresses(&["ada", "bob", "zoe"]), NOW);
        assert_eq!(people.unclear().collect::<Vec<_>>(), ["ada", "zoe"]);
        assert_eq!(people.reached().collect::<Vec<_>>(), [&bob]);
        assert!(told(&everybody, Asked::One, |_| true).is_empty());
    }

    #[test]
    fn a13_an_address_by_the_id_of_an_identity_is_of_that_one_whatever_others_are_called() {
        let (ada, other) = (identity(1, "ada"), identity(2, "ada"));
        let everybody = [ada.clone(), other];
        let address: MailAddress = "ada@example.org".parse().unwrap();
        let people = People::new(&everybody, [(ada.id.to_string(), address)].into(), NOW);
        assert_eq!(people.unclear().count(), 0);
        assert_eq!(people.reached().collect::<Vec<_>>(), [&ada]);
    }
}
