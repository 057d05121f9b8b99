//! The scanner: one pass over the text for all anchors of all rules, and a closer look around each of them.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};

use crate::context::name;
use crate::finding::{Encoding, Finding, fingerprint, redacted};
use crate::hit::{Hit, Special, without_overlaps};
use crate::rule::{Check, Rule};
use crate::search::Search;
use crate::team::{RuleError, read_rules};
use crate::{address, block, line, prefixed, rules, wrapped};

/// Finds secrets. Made once and shared: it keeps nothing of what it reads.
#[derive(Debug)]
pub struct Scanner {
    rules: Vec<Rule>,
    automaton: AhoCorasick,
    /// What to do at each anchor, by the number of its pattern.
    targets: Vec<Target>,
    /// Names of vendors, and which rule each of them belongs to.
    vendors: AhoCorasick,
    vendor_rules: Vec<usize>,
}

/// What an anchor leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Shape { rule: usize, shape: usize },
    TellingWord,
    Block,
    Address,
    Command,
    PgPass,
}

impl Scanner {
    /// The scanner with the rules that ship.
    #[must_use]
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Scanner> = OnceLock::new();
        SHIPPED.get_or_init(|| Self::new(Vec::new()))
    }

    /// The scanner with the rules that ship and a team's own, each tried on its examples.
    ///
    /// # Errors
    /// The text is no list of rules, or a rule does not do what its examples say.
    pub fn with_rules(json: &str) -> Result<Self, RuleError> {
        let (rules, examples) = read_rules(json)?;
        let scanner = Self::new(rules);
        examples.iter().try_for_each(|examples| examples.try_on(&scanner))?;
        Ok(scanner)
    }

    fn new(own: Vec<Rule>) -> Self {
        let mut rules: Vec<Rule> = Special::ALL.into_iter().map(special_rule).collect();
        rules.extend(rules::shipped());
        rules.extend(own);
        let (patterns, targets) = anchors(&rules).into_iter().unzip::<_, _, Vec<Vec<u8>>, Vec<Target>>();
        let (names, vendor_rules) = vendors(&rules).into_iter().unzip::<_, _, Vec<Vec<u8>>, Vec<usize>>();
        Self { automaton: automaton(patterns), targets, vendors: automaton(names), vendor_rules, rules }
    }

    /// All rules: those that ship, then a team's own.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The first of the rules for values of vendors that are named in a line and that `fits`.
    pub(crate) fn vendor_named(&self, line: &[u8], fits: impl Fn(&Rule) -> bool) -> Option<usize> {
        let named = self.vendors.find_overlapping_iter(line).map(|name| self.vendor_rules[name.pattern().as_usize()]);
        named.filter(|rule| fits(&self.rules[*rule])).min()
    }

    /// Every secret in the text, in order. Of what overlaps, the one that says most.
    #[must_use]
    pub fn scan(&self, text: &[u8]) -> Vec<Finding> {
        self.findings(text).collect()
    }

    /// The same one after the other, for callers that do not keep all of them.
    pub fn findings<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Finding> + 't {
        let mut place = Place { line: 1, line_start: 0, at: 0 };
        without_overlaps(self.hits(text)).into_iter().map(move |hit| self.tell(text, &hit, &mut place))
    }

    /// Every secret in lines of which some may be missing, as in a diff. What follows each other is read together, so
    /// that a key may span lines.
    pub fn scan_lines<'t>(&self, lines: impl IntoIterator<Item = (u32, &'t [u8])>) -> Vec<Finding> {
        let mut found = Vec::new();
        let (mut text, mut first, mut next) = (Vec::new(), 0, 0);
        for (number, line) in lines {
            if number != next && !text.is_empty() {
                found.extend(self.scan_from(&text, first));
                text.clear();
            }
            first = if text.is_empty() { number } else { first };
            text.extend_from_slice(line);
            text.push(b'\n');
            next = number.saturating_add(1);
        }
        found.extend(self.scan_from(&text, first));
        found
    }

    fn scan_from(&self, text: &[u8], first_line: u32) -> Vec<Finding> {
        let shift = first_line.saturating_sub(1);
        let moved = |finding: Finding| Finding { line: finding.line.saturating_add(shift), ..finding };
        self.scan(text).into_iter().map(moved).collect()
    }

    fn tell(&self, text: &[u8], hit: &Hit, place: &mut Place) -> Finding {
        let rule = &self.rules[hit.rule];
        let secret = &text[hit.secret.clone()];
        place.advance(text, hit.secret.start);
        let prefix =
            rule.shapes.iter().map(crate::shape::Shape::public_prefix).find(|prefix| secret.starts_with(prefix));
        Finding {
            rule: rule.id.clone(),
            about: rule.about.clone(),
            line: place.line,
            column: u32::try_from(hit.secret.start - place.line_start + 1).unwrap_or(u32::MAX),
            len: secret.len(),
            redacted: redacted(if hit.wrapped { &[] } else { prefix.unwrap_or_default() }, secret),
            fingerprint: fingerprint(&rule.id, secret),
            encoding: if hit.wrapped { Encoding::Base64 } else { Encoding::Plain },
        }
    }

    /// Everything any rule finds, also what overlaps, in no order.
    pub(crate) fn hits(&self, text: &[u8]) -> Vec<Hit> {
        let mut hits = self.plain_hits(text);
        for run in wrapped::runs(text) {
            hits.extend(prefixed::find(text, run.clone()));
            hits.extend(wrapped::decode(&text[run.clone()]).and_then(|plain| self.wrapped_hit(run, &plain)));
        }
        hits
    }

    /// The whole run is the secret: a part of it cannot be named in the encoded text.
    fn wrapped_hit(&self, run: Range<usize>, plain: &[u8]) -> Option<Hit> {
        let inside = self.plain_hits(plain);
        let telling = inside.iter().max_by_key(|hit| hit.rank())?;
        Some(Hit { rule: telling.rule, context: run.start, secret: run, wrapped: true })
    }

    fn plain_hits(&self, text: &[u8]) -> Vec<Hit> {
        let mut search = Search::new(self, text);
        for anchor in self.automaton.find_overlapping_iter(text) {
            search.look(self.targets[anchor.pattern().as_usize()], anchor.range());
        }
        search.into_hits()
    }
}

fn special_rule(special: Special) -> Rule {
    let (id, about) = (special.id().to_owned(), special.about().to_owned());
    Rule {
        id,
        about,
        shapes: Vec::new(),
        names: Vec::new(),
        least_bits: 0.0,
        check: Check::Entropy,
        unlike: Vec::new(),
    }
}

fn automaton(patterns: Vec<Vec<u8>>) -> AhoCorasick {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(patterns)
        .expect("a few thousand short patterns fit")
}

/// The names by which values of vendors are known, with their rules.
fn vendors(rules: &[Rule]) -> Vec<(Vec<u8>, usize)> {
    let names = |(index, rule): (usize, &Rule)| {
        rule.names.iter().map(move |name| (name.as_bytes().to_vec(), index)).collect::<Vec<_>>()
    };
    rules.iter().enumerate().flat_map(names).collect()
}

/// Every literal that makes the scanner look, with what to look for.
fn anchors(rules: &[Rule]) -> Vec<(Vec<u8>, Target)> {
    let fixed =
        |texts: &[&str], target| texts.iter().map(|text| (text.as_bytes().to_vec(), target)).collect::<Vec<_>>();
    let mut anchors = fixed(name::TELLING, Target::TellingWord);
    anchors.extend(fixed(block::ANCHORS, Target::Block));
    anchors.extend(fixed(&[address::ANCHOR], Target::Address));
    anchors.extend(fixed(&[line::COMMAND_ANCHOR], Target::Command));
    anchors.extend(fixed(line::PGPASS_ANCHORS, Target::PgPass));
    for (index, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.names.is_empty()) {
        let targets = rule.shapes.iter().enumerate();
        let literal = |(shape, of): (usize, &crate::shape::Shape)| {
            Some((of.anchor()?.to_vec(), Target::Shape { rule: index, shape }))
        };
        anchors.extend(targets.filter_map(literal));
    }
    anchors
}

/// Where the telling of findings has come to, so that lines are counted once.
struct Place {
    line: u32,
    line_start: usize,
    at: usize,
}

impl Place {
    fn advance(&mut self, text: &[u8], to: usize) {
        for newline in memchr::memchr_iter(b'\n', &text[self.at..to.max(self.at)]) {
            self.line = self.line.saturating_add(1);
            self.line_start = self.at + newline + 1;
        }
        self.at = self.at.max(to);
    }
}
