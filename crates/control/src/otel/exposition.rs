//! Reads what `/metrics` answers (OpenMetrics text), so that a collector is told the same numbers as Prometheus: there is one place where
//! they are counted, and one where they are written down.
//!
//! It reads what this program writes, not whatever the format allows: no timestamps, no exemplars.

use std::collections::BTreeMap;

/// A metric with all its series.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) help: String,
    /// As Prometheus spells it, `seconds`; empty where there is none.
    pub(crate) unit: String,
    /// `counter`, `gauge` or `histogram`.
    pub(crate) kind: String,
    pub(crate) samples: Vec<Sample>,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// What its name has more than its family's: `_total`, `_bucket`, `_sum`, `_count` or nothing.
    pub(crate) suffix: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: String,
}

/// All metrics in a text, in its order. A line that is not understood is left out.
pub(crate) fn read(text: &str) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(said) => about(&mut families, said),
            None => {
                families.last_mut().into_iter().for_each(|family| family.samples.extend(sample(&family.name, line)))
            }
        }
    }
    families
}

/// `HELP name text`, `TYPE name kind`, `UNIT name unit`.
fn about(families: &mut Vec<Family>, said: &str) {
    let mut words = said.splitn(3, ' ');
    let (Some(what), Some(name), Some(text)) = (words.next(), words.next(), words.next()) else { return };
    if families.last().is_none_or(|family| family.name != name) {
        families.push(Family { name: name.to_owned(), ..Family::default() });
    }
    let Some(family) = families.last_mut() else { return };
    match what {
        "HELP" => text.clone_into(&mut family.help),
        "TYPE" => text.clone_into(&mut family.kind),
        "UNIT" => text.clone_into(&mut family.unit),
        _ => {}
    }
}

fn sample(family: &str, line: &str) -> Option<Sample> {
    let rest = line.strip_prefix(family)?;
    let (suffix, rest) = rest.split_at(rest.find(['{', ' '])?);
    let (labels, value) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (BTreeMap::new(), rest),
    };
    Some(Sample { suffix: suffix.to_owned(), labels, value: value.trim().to_owned() })
}

/// `a="b",c="d"} 1`: the labels, and what comes after them.
fn labels(mut rest: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (key, after) = rest.split_once("=\"")?;
        let (value, after) = quoted(after)?;
        labels.insert(key.to_owned(), value);
        rest = after.strip_prefix(',').unwrap_or(after);
    }
}

/// A value up to its closing quote, and what comes after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match letters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let text = "# HELP p_requests requests by route.\n# TYPE p_requests counter\n\
            p_requests_total{route=\"/a/{b}\",method=\"G\\\"E\\\\T\\n\"} 3\np_requests_total 1\n\
            # HELP p_took_seconds time.\n# TYPE p_took_seconds histogram\n# UNIT p_took_seconds seconds\n\
            p_took_seconds_sum 0.5\np_took_seconds_bucket{le=\"+Inf\"} 2\n# EOF\n";
        let families = read(text);
        let [requests, took] = &families[..] else { panic!("two: {families:?}") };
        assert_eq!(
            (requests.name.as_str(), requests.kind.as_str(), requests.unit.as_str()),
            ("p_requests", "counter", "")
        );
        assert_eq!(requests.help, "requests by route.");
        assert_eq!(requests.samples[0].labels["route"], "/a/{b}");
        assert_eq!(requests.samples[0].labels["method"], "G\"E\\T\n");
        assert_eq!((requests.samples[0].suffix.as_str(), requests.samples[0].value.as_str()), ("_total", "3"));
        assert_eq!(
            (took.unit.as_str(), took.samples.len(), took.samples[1].labels["le"].as_str()),
            ("seconds", 2, "+Inf")
        );
    }

    #[test]
    fn what_is_not_understood_is_left_out_and_nothing_else_with_it() {
        assert_eq!(read(""), []);
        let families = read("stray 1\n# TYPE a gauge\na{b=\"c} 1\na{b=\"\\\na 2\n# nonsense\n");
        assert_eq!(families[0].samples.len(), 1);
        assert_eq!(families[0].samples[0].value, "2");
    }
}
