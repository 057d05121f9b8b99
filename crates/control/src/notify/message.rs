//! One message: what is told to one recipient at once. Pure; how a channel spells it is the channel's business.
//!
//! Many questions of one agent are one line, and a message has so many lines and no more: nobody is flooded, and nobody is told less than
//! how many there are.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::digest::Digest;
use placet_domain::policy::Tier;
use placet_domain::time::Timestamp;
use placet_lang::Lang;

use super::{NoticeKind, plain, words};

/// As many of one kind, agent and project as are listed each by itself.
const MOST_EACH: usize = 3;
const MOST_LINES: usize = 10;

/// One thing that is told, with everything that is told of it. All texts are as they were written: they are made harmless here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) seq: u64,
    pub(crate) what: NoticeKind,
    /// The tool of an action, or the ticket of a worktree.
    pub(crate) thing: String,
    pub(crate) agent: String,
    pub(crate) project: String,
    /// What the run is for, in the words of whoever wrote it.
    pub(crate) goal: Option<String>,
    pub(crate) tier: Option<Tier>,
    pub(crate) deadline: Option<Timestamp>,
    /// Where it is decided, below the address of the control plane.
    pub(crate) path: String,
}

/// Somebody who is away, and until when, for whom the recipient is told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Absent {
    pub(crate) name: String,
    pub(crate) until: Timestamp,
}

/// One thing that a message says, and where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) details: Vec<String>,
    pub(crate) link: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// The same for the same news to the same recipient, however often it is sent.
    pub(crate) id: Digest,
    pub(crate) subject: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) farewell: &'static str,
}

/// For whom, in which language, and from where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Framing<'a> {
    pub(crate) lang: Lang,
    /// The address of the control plane, without a slash at its end.
    pub(crate) base: &'a str,
    pub(crate) route: &'a str,
    pub(crate) recipient: &'a str,
    /// How many older ones are only counted.
    pub(crate) left_out: u64,
}

impl Framing<'_> {
    /// The id of a message about these entries.
    pub(crate) fn id(&self, seqs: &BTreeSet<u64>) -> Digest {
        Digest::of(&placet_domain::canonical::to_bytes(&(self.base, self.route, self.recipient, seqs)))
    }
}

impl Message {
    pub(crate) fn of(items: &[Item], absent: &[Absent], framing: Framing<'_>) -> Self {
        let Framing { lang, base, left_out, .. } = framing;
        let seqs: BTreeSet<u64> = items.iter().map(|item| item.seq).collect();
        let waiting = items.iter().filter(|item| item.what.waits()).count();
        let mut lines: Vec<Line> = absent.iter().map(|absent| stands_in(lang, absent)).collect();
        lines.extend(told(items, lang, base, left_out));
        Self {
            id: framing.id(&seqs),
            subject: words::subject(lang, waiting, items.len() - waiting),
            lines,
            farewell: words::farewell(lang),
        }
    }

    /// One that tells nothing, to see whether it arrives.
    pub(crate) fn test(framing: Framing<'_>, now: Timestamp) -> Self {
        let Framing { lang, base, route, recipient, .. } = framing;
        let unique = (base, route, recipient, "test", now.unix_ms());
        let line = Line { text: words::test(lang).to_owned(), details: vec![], link: Some(format!("{base}/")) };
        Self {
            id: Digest::of(&placet_domain::canonical::to_bytes(&unique)),
            subject: format!("Placet: {}", plain::name(route)),
            lines: vec![line],
            farewell: words::farewell(lang),
        }
    }

    /// The same message under the id that it was begun with: what was decided since is left out of it, and it is no other for that.
    pub(crate) fn under(self, id: Digest) -> Self {
        Self { id, ..self }
    }

    /// The id as letters and receivers carry it.
    pub(crate) fn plain_id(&self) -> String {
        self.id.to_string().replace("sha256:", "")
    }
}

fn stands_in(lang: Lang, absent: &Absent) -> Line {
    let text = words::standing_in(lang, &plain::name(&absent.name), absent.until);
    Line { text, details: vec![], link: None }
}

/// What belongs together stands together; what comes first in the ledger comes first.
fn told(items: &[Item], lang: Lang, base: &str, left_out: u64) -> Vec<Line> {
    let mut groups: BTreeMap<(NoticeKind, &str, &str), Vec<&Item>> = BTreeMap::new();
    for item in items {
        groups.entry((item.what, &item.project, &item.agent)).or_default().push(item);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    // Where two people are asked comes first, then by age.
    groups.sort_by_key(|group| {
        let highest = group.iter().filter_map(|item| item.tier).max();
        (std::cmp::Reverse(highest), group.first().map(|item| item.seq))
    });
    let mut lines: Vec<(usize, Line)> = Vec::new();
    for group in &groups {
        if group.len() > MOST_EACH {
            lines.push((group.len(), folded(group, lang, base)));
        } else {
            lines.extend(group.iter().map(|item| (1, single(item, lang, base))));
        }
    }
    bounded(lines, lang, base, left_out)
}

fn bounded(mut lines: Vec<(usize, Line)>, lang: Lang, base: &str, left_out: u64) -> Vec<Line> {
    let unlisted: usize = lines.iter().skip(MOST_LINES).map(|(count, _)| count).sum();
    let beyond = left_out + unlisted as u64;
    lines.truncate(MOST_LINES);
    let mut lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
    if beyond > 0 {
        lines.push(Line { text: words::more(lang, beyond), details: vec![], link: Some(format!("{base}/")) });
    }
    lines
}

fn single(item: &Item, lang: Lang, base: &str) -> Line {
    let (thing, agent, project) = (plain::name(&item.thing), plain::name(&item.agent), plain::name(&item.project));
    let facts = [item.tier.map(|tier| words::tier(lang, tier)), item.deadline.map(|at| words::until(lang, at))];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let mut details = Vec::new();
    if !facts.is_empty() {
        details.push(facts.join("; "));
    }
    details.extend(item.goal.as_ref().map(|goal| words::goal(lang, &plain::quote(goal))));
    let text = words::headline(lang, item.what, &thing, &agent, &project);
    Line { text, details, link: Some(format!("{base}{}", item.path)) }
}

/// How often, of which tools, and how risky at most; each of them is on the page.
fn folded(group: &[&Item], lang: Lang, base: &str) -> Line {
    let Some(first) = group.first() else {
        return Line { text: String::new(), details: vec![], link: None };
    };
    let (agent, project) = (plain::name(&first.agent), plain::name(&first.project));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for item in group {
        *counts.entry(item.thing.as_str()).or_default() += 1;
    }
    let things: Vec<String> =
        counts.iter().take(MOST_EACH).map(|(thing, count)| format!("{} × {count}", plain::name(thing))).collect();
    let highest = group.iter().filter_map(|item| item.tier).max().map(|tier| words::tier(lang, tier));
    let soonest = group.iter().filter_map(|item| item.deadline).min().map(|at| words::until(lang, at));
    let facts: Vec<String> = [Some(things.join(", ")), highest, soonest].into_iter().flatten().collect();
    let text = words::folded(lang, first.what, group.len(), &agent, &project);
    Line { text, details: vec![facts.join("; ")], link: Some(format!("{base}/")) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::plain::tests::HOSTILE;
    use super::*;

    pub(in crate::notify) fn item(seq: u64, what: NoticeKind) -> Item {
        Item {
            seq,
            what,
            thing: "nmap".to_owned(),
            agent: "tom".to_owned(),
            project: "alpha".to_owned(),
            goal: Some("survey the lab".to_owned()),
            tier: matches!(what, NoticeKind::Action).then_some(Tier::B),
            deadline: Some(Timestamp::from_unix_ms(1_769_851_800_000)),
            path: format!("/actions/act_{seq}"),
        }
    }

    pub(in crate::notify) fn hostile() -> Vec<Item> {
        let spoiled = |(seq, text): (u64, &&str)| Item {
            thing: (*text).to_owned(),
            agent: (*text).to_owned(),
            project: (*text).to_owned(),
            goal: Some((*text).to_owned()),
            ..item(seq, NoticeKind::Action)
        };
        (0..).zip(HOSTILE).map(spoiled).collect()
    }

    pub(in crate::notify) fn framing(lang: Lang) -> Framing<'static> {
        Framing { lang, base: "http://127.0.0.1:7070", route: "team", recipient: "ada", left_out: 0 }
    }

    fn message(items: &[Item]) -> Message {
        Message::of(items, &[], framing(Lang::En))
    }

    #[test]
    fn b4_a_message_says_what_waits_of_whom_until_when_and_where_it_is_decided() {
        let told = message(&[item(1, NoticeKind::Action)]);
        assert_eq!(told.subject, "Placet: 1 decision waits");
        let line = &told.lines[0];
        assert_eq!(line.text, "nmap waits for a decision (agent tom, project alpha)");
        assert_eq!(line.details[0], "tier B, one reviewer; until 2026-01-31 09:30 UTC");
        assert_eq!(line.details[1], "goal, in the words of whoever wrote it: “survey the lab”");
        assert_eq!(line.link.as_deref(), Some("http://127.0.0.1:7070/actions/act_1"));
    }

    #[test]
    fn b4_an_agent_that_asks_forty_times_is_one_line() {
        let forty: Vec<Item> = (0..40).map(|seq| item(seq, NoticeKind::Action)).collect();
        let told = message(&forty);
        assert_eq!(told.subject, "Placet: 40 decisions wait");
        assert_eq!(told.lines.len(), 1);
        assert_eq!(told.lines[0].text, "agent tom asks 40 times (action, project alpha)");
        assert!(told.lines[0].details[0].starts_with("nmap × 40; tier B"), "{:?}", told.lines[0]);
    }

    #[test]
    fn b4_a_message_is_bounded_and_tells_how_many_it_leaves_out() {
        let of = |seq: u64| Item { agent: format!("agent{seq}"), ..item(seq, NoticeKind::Action) };
        let told = message(&(0..500).map(of).collect::<Vec<_>>());
        assert_eq!(told.lines.len(), MOST_LINES + 1);
        assert_eq!(told.lines[MOST_LINES].text, "and 490 more");
        let older = Framing { left_out: 9_900, ..framing(Lang::En) };
        let told = Message::of(&(0..100).map(of).collect::<Vec<_>>(), &[], older);
        assert_eq!(told.lines[MOST_LINES].text, "and 9,990 more");
        assert!(told.lines[MOST_LINES].link.is_some(), "they are on the page");
    }

    #[test]
    fn b4_the_same_news_to_the_same_recipient_have_the_same_id_and_others_do_not() {
        let id = |items: &[Item], recipient: &'static str| {
            Message::of(items, &[], Framing { recipient, ..framing(Lang::En) }).id
        };
        let (one, two) = (item(1, NoticeKind::Action), item(2, NoticeKind::Action));
        assert_eq!(id(std::slice::from_ref(&one), "ada"), id(std::slice::from_ref(&one), "ada"));
        assert_ne!(id(std::slice::from_ref(&one), "ada"), id(std::slice::from_ref(&one), "bob"));
        assert_ne!(id(std::slice::from_ref(&one), "ada"), id(&[one, two], "ada"));
    }

    #[test]
    fn c16_every_kind_is_told_in_both_languages_and_says_for_whom_one_stands_in() {
        let all: Vec<Item> = (0..).zip(NoticeKind::ALL).map(|(seq, what)| item(seq, *what)).collect();
        let absent = [Absent { name: "ada".to_owned(), until: Timestamp::from_unix_ms(1_769_851_800_000) }];
        let [en, fr] = [Lang::En, Lang::Fr].map(|lang| {
            Message::of(&all, &absent, framing(lang)).lines.into_iter().map(|line| line.text).collect::<Vec<_>>()
        });
        assert_eq!(en.len(), fr.len());
        assert!(en.iter().zip(&fr).all(|(en, fr)| en != fr), "{en:#?} {fr:#?}");
        assert_eq!(en[0], "for ada, who is away until 2026-01-31 09:30 UTC");
    }
}
