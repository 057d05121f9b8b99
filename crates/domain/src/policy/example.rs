//! The examples that every rule carries: one line, written as one would type it, becomes a sealed action.
//!
//! ```text
//! example = { NAME=value } subject { word }
//! subject = tool name | "kind:" kind          the latter where no tool is declared
//! word    = @target | >output | <file | ~opening | !credential | argument
//! ```
//!
//! Words are separated by spaces; `'…'` keeps spaces together and takes every character as it is, so a quoted word is
//! always an argument. An example is sealed like any proposal: one that no agent could propose proves nothing and is refused.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::digest::Digest;
use crate::id::{IdentityId, RunId};
use crate::proposal::{
    Action, ActionKind, CredentialBook, CredentialRule, FileOperand, Opening, Proposal, ToolName, Tools,
};
use crate::scope::{Scope, ScopeDraft, Target, TargetRule, Url};

/// Makes the action that an example line describes, or says why it can't be made.
pub(super) fn action(line: &str, tools: &Tools) -> Result<Action, String> {
    let words = split(line)?;
    let variables = words.iter().take_while(|word| variable(word).is_some()).count();
    let (environment, rest) = words.split_at(variables);
    let [subject, rest @ ..] = rest else { return Err("it names no tool and no kind".to_owned()) };
    let mut proposal = Proposal {
        tool: subject_name(&subject.text)?,
        arguments: Vec::new(),
        target: None,
        environment: environment.iter().filter_map(variable).collect::<BTreeMap<_, _>>(),
        files: Vec::new(),
        outputs: Vec::new(),
        network: Vec::new(),
        credentials: BTreeSet::new(),
        timeout_ms: None,
        justification: String::new(),
    };
    rest.iter().try_for_each(|word| add(word, &mut proposal))?;
    match subject.text.strip_prefix(KIND) {
        Some(kind) => seal(&proposal, &stand_in(kind)?),
        None => seal(&proposal, tools),
    }
}

const KIND: &str = "kind:";

fn subject_name(subject: &str) -> Result<ToolName, String> {
    subject.strip_prefix(KIND).unwrap_or(subject).parse().map_err(|e| format!("{e}"))
}

/// A tool that stands for any tool of its kind.
fn stand_in(kind: &str) -> Result<Tools, String> {
    let known = ActionKind::ALL.iter().find(|known| known.as_str() == kind);
    let kind = known.ok_or_else(|| format!("there is no kind `{kind}`"))?;
    Tools::parse(&format!("[{kind}]\nprogram = \"/any/{kind}\"\nkind = \"{kind}\"\nnetwork = \"named\""))
        .map_err(|e| e.to_string())
}

fn seal(proposal: &Proposal, tools: &Tools) -> Result<Action, String> {
    // Who asks and in which scope does not matter here: rules are tried on what is asked.
    let nobody = (RunId::from_uuid(Uuid::nil()), IdentityId::from_uuid(Uuid::nil()));
    let scope = Scope::lock(ScopeDraft::default());
    let tools = with_credentials(proposal, tools)?;
    Action::seal(proposal, &tools, &scope, nobody.0, nobody.1).map_err(|e| e.to_string())
}

/// Rules are tried on credentials by name: in an example, each is for its tool and for whatever it opens.
fn with_credentials<'a>(proposal: &Proposal, tools: &'a Tools) -> Result<Cow<'a, Tools>, String> {
    if proposal.credentials.is_empty() {
        return Ok(Cow::Borrowed(tools));
    }
    let opened = proposal
        .network
        .iter()
        .map(Opening::to)
        .cloned()
        .chain(proposal.target.iter().cloned().map(TargetRule::Within));
    let to: BTreeSet<Url> = opened.filter_map(|to| url_of(&to)).collect();
    let rule = CredentialRule {
        to,
        methods: BTreeSet::new(),
        tools: BTreeSet::from([proposal.tool.clone()]),
        projects: BTreeSet::new(),
    };
    let book: CredentialBook = proposal.credentials.iter().map(|name| (name.clone(), rule.clone())).collect();
    tools.clone().with_credentials(book).map(Cow::Owned).map_err(|e| e.to_string())
}

fn url_of(to: &TargetRule) -> Option<Url> {
    match to {
        TargetRule::Within(Target::Url(url)) => Some(url.clone()),
        TargetRule::Within(Target::Host(_) | Target::Network(_)) | TargetRule::Below(_) => None,
    }
}

fn add(word: &Word, proposal: &mut Proposal) -> Result<(), String> {
    let mark = if word.quoted { None } else { word.text.chars().next() };
    match mark {
        Some('@') if proposal.target.is_some() => return Err("it names two targets".to_owned()),
        Some('@') => proposal.target = Some(word.text[1..].parse().map_err(|e| format!("{e}"))?),
        Some('>') => proposal.outputs.push(word.text[1..].to_owned()),
        Some('~') => proposal.network.push(word.text[1..].parse().map_err(|e| format!("{e}"))?),
        Some('!') => {
            proposal.credentials.insert(word.text[1..].parse().map_err(|e| format!("{e}"))?);
        }
        Some('<') => proposal.files.push(operand(&word.text[1..])),
        Some(_) | None => proposal.arguments.push(word.text.clone()),
    }
    Ok(())
}

/// Rules see the names of files, never their content, so that an empty one will do.
fn operand(path: &str) -> FileOperand {
    FileOperand { path: path.to_owned(), digest: Digest::of(b""), size_bytes: 0 }
}

#[derive(Debug, PartialEq, Eq)]
struct Word {
    text: String,
    /// Whether it begins with a quote, which takes the meaning from its first character.
    quoted: bool,
}

fn variable(word: &Word) -> Option<(String, String)> {
    let (name, value) = word.text.split_once('=').filter(|_| !word.quoted)?;
    let plain = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    (!name.is_empty() && name.bytes().all(plain)).then(|| (name.to_owned(), value.to_owned()))
}

fn split(line: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = next_word(rest)?;
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

fn next_word(line: &str) -> Result<(Word, &str), String> {
    let mut text = String::new();
    let mut rest = line;
    loop {
        let plain = rest.find([' ', '\t', '\'']).unwrap_or(rest.len());
        text.push_str(&rest[..plain]);
        let Some(after_quote) = rest[plain..].strip_prefix('\'') else {
            return Ok((Word { text, quoted: line.starts_with('\'') }, &rest[plain..]));
        };
        let (inner, after) = after_quote.split_once('\'').ok_or("a `'` is never closed")?;
        text.push_str(inner);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOOLS: &str = r#"
        [nmap]
        program = "/usr/bin/nmap"
        kind = "network_scan"
        arguments.only = { flags = ["-sV"], options = ["-p"] }
        [sh]
        program = "/bin/sh"
        kind = "execute_code"
        prefix = ["-c"]
    "#;

    fn read(line: &str) -> Result<Action, String> {
        action(line, &Tools::parse(TOOLS).expect("tools"))
    }

    fn refusal(line: &str) -> String {
        read(line).expect_err("a bad example")
    }

    #[test]
    fn a_line_becomes_the_action_one_would_expect() {
        let action = read("LANG=C MODE=a=b sh 'echo  two' x'y z' '@plain' @10.0.0.5 >out/a.txt <in.txt")
            .expect("a good example");
        let spec = action.spec();
        assert_eq!(spec.argv, ["/bin/sh", "-c", "echo  two", "xy z", "@plain", "10.0.0.5"]);
        assert_eq!(
            spec.environment.iter().map(|(k, v)| format!("{k}:{v}")).collect::<Vec<_>>(),
            ["LANG:C", "MODE:a=b"]
        );
        assert_eq!((spec.outputs.as_slice(), spec.files[0].path.as_str()), (&["out/a.txt".to_owned()][..], "in.txt"));
        assert_eq!(spec.target.as_ref().map(ToString::to_string).as_deref(), Some("10.0.0.5"));
    }

    #[test]
    fn a_kind_stands_for_any_tool_of_that_kind() {
        let email = read("kind:send_email ann@example.org").expect("a good example");
        assert_eq!(email.spec().kind, ActionKind::SendEmail);
        assert_eq!(email.spec().argv[1..], ["ann@example.org"]);
        for kind in ActionKind::ALL {
            assert_eq!(read(&format!("kind:{kind}")).expect("a good example").spec().kind, *kind);
        }
    }

    #[test]
    fn an_equals_sign_after_the_tool_is_an_argument() {
        assert_eq!(read("sh A=1").expect("a good example").spec().argv[2..], ["A=1"]);
    }

    #[test]
    fn what_nobody_could_propose_is_no_example() {
        assert!(refusal("LANG=C").contains("names no tool"));
        assert!(refusal("").contains("names no tool"));
        assert!(refusal("telnet").contains("no tool `telnet`"));
        assert!(refusal("kind:fly").contains("no kind `fly`"));
        assert!(refusal("nmap --script vuln").contains("does not take the argument"));
        assert!(refusal("nmap @10.0.0.5 @10.0.0.6").contains("two targets"));
        assert!(refusal("nmap @10.0.0.5/24").contains("host bits"));
        assert!(refusal("sh 'open").contains("never closed"));
        assert!(refusal("sh >../x").contains("bad path"));
        assert!(refusal("PATH=x sh true").contains("PATH"));
    }

    proptest! {
        #[test]
        fn quoted_words_arrive_unchanged(words in prop::collection::vec("[^'\0\n]{0,10}", 0..5)) {
            let line = words.iter().fold("sh".to_owned(), |line, word| format!("{line} '{word}'"));
            let action = read(&line).expect("a good example");
            prop_assert_eq!(&action.spec().argv[2..], &words[..]);
        }

        #[test]
        fn no_line_makes_the_reader_panic(line in "[a-zA-Z'@<>:=/. ]{0,40}") {
            let _ = read(&line);
        }
    }
}
