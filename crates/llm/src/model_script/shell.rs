//! Finds the tool with which an agent runs commands, and gives it a command in the way it wants it.
//!
//! Agents call it `Bash`, `shell`, `run_shell_command`, `exec_command` and more, with `command` or `cmd`, a text or a list. Their own
//! schema says which, so a script need not.

use serde_json::{Map, Value, json};

use super::heard::Offered;

const NAMES: [&str; 4] = ["bash", "shell", "exec_command", "terminal"];
const COMMANDS: [&str; 2] = ["command", "cmd"];

/// The name of the tool and its arguments; none if the agent offers no such tool.
pub(super) fn call(tools: &[Offered<'_>], command: &str) -> Option<(String, Map<String, Value>)> {
    let is_shell = |tool: &&Offered<'_>| {
        let name = tool.name.to_ascii_lowercase();
        NAMES.iter().any(|known| name.contains(known)) && place(tool).is_some()
    };
    let tool = tools.iter().find(is_shell)?;
    Some((tool.name.to_owned(), arguments(tool, command)?))
}

fn place(tool: &Offered<'_>) -> Option<&'static str> {
    let properties = tool.schema["properties"].as_object()?;
    COMMANDS.into_iter().find(|name| properties.contains_key(*name))
}

fn arguments(tool: &Offered<'_>, command: &str) -> Option<Map<String, Value>> {
    let name = place(tool)?;
    let properties = &tool.schema["properties"];
    let is_list = properties[name]["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("array"));
    let value = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
    let mut arguments = Map::from_iter([(name.to_owned(), value)]);
    // Some want more, such as a description of what the command is for.
    for required in tool.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let is_text = properties[required]["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("string"));
        if is_text && !arguments.contains_key(required) {
            arguments.insert(required.to_owned(), json!("as scripted"));
        }
    }
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agents_own_schema_says_how_it_wants_a_command() {
        let text = json!({"properties": {"command": {"type": "string"}, "description": {"type": "string"}}, "required": ["command", "description"]});
        let list = json!({"properties": {"command": {"type": "array"}}, "required": ["command"]});
        let short = json!({"properties": {"cmd": {"type": "STRING"}}});
        for (name, schema, wanted) in [
            ("Bash", &text, json!({"command": "ls", "description": "as scripted"})),
            ("shell", &list, json!({"command": ["bash", "-lc", "ls"]})),
            ("exec_command", &short, json!({"cmd": "ls"})),
        ] {
            let others = [Offered { name: "read", schema: &Value::Null }, Offered { name, schema }];
            assert_eq!(
                call(&others, "ls").map(|(name, arguments)| (name, Value::from(arguments))),
                Some((name.to_owned(), wanted))
            );
        }
        assert!(call(&[Offered { name: "read", schema: &text }], "ls").is_none());
    }
}
