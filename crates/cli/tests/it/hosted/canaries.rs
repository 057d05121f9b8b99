//! Secrets are planted everywhere outside: nothing in a cage, no answer, no record and no log holds one of them.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use placet_domain::digest::Digest;

use super::{Scene, agents};
use crate::support::World;

/// Where secrets lie that a person has, and that no agent may ever see.
const IN_HOME: [&str; 9] = [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".npmrc",
    ".git-credentials",
    ".pgpass",
    ".kube/config",
    ".docker/config.json",
    ".config/gcloud/application_default_credentials.json",
];
const IN_ENVIRONMENT: [&str; 5] =
    ["ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "LAB_KEY", "DATABASE_URL"];

/// A secret of this place, of a form that nothing else has.
fn canary(place: &str) -> String {
    format!("CNRY{}", &Digest::of(place.as_bytes()).to_string().trim_start_matches("sha256:")[..32])
}

/// An upstream that tells what it should not: the key it was shown, and secrets of its own. It does so in every way an answer has.
fn telltale() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|socket| drop(std::thread::spawn(|| tell(socket))))
    });
    url
}

fn tell(mut socket: TcpStream) {
    let mut heard = vec![0; 64 << 10];
    let size = socket.read(&mut heard).unwrap_or(0);
    let heard = String::from_utf8_lossy(&heard[..size]).into_owned();
    let key = heard.lines().find_map(|line| line.strip_prefix("x-api-key: ")).unwrap_or_default().to_owned();
    let (status, body) = if heard.contains("\"angry\"") {
        ("401 Unauthorized", format!("{{\"error\":{{\"message\":\"bad key {key}\"}}}}"))
    } else if heard.contains("\"forbidding\"") {
        ("403 Forbidden", format!("{{\"error\":{{\"message\":\"not with {key}\"}}}}"))
    } else if heard.contains("\"unwell\"") {
        ("500 Internal Server Error", "{\"error\":{\"message\":\"not today\"}}".to_owned())
    } else {
        let used = "\"usage\":{\"input_tokens\":10,\"output_tokens\":5}";
        ("200 OK", format!("{{\"model\":\"m\",\"content\":[{{\"type\":\"text\",\"text\":\"hi\"}}],{used}}}"))
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nset-cookie: session={}\r\nx-account: {}\r\nwww-authenticate: Key {key}\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        canary("cookie of the upstream"),
        canary("account of the upstream"),
        body.len()
    );
    let _ = socket.write_all((head + &body).as_bytes());
}

fn write_private(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// Plants one in every place, and gives the home a gateway whose upstreams have keys from all kinds of places.
fn plant(world: &World) -> BTreeMap<String, String> {
    let mut planted = BTreeMap::new();
    let mut secret = |place: &str| {
        planted.insert(canary(place), place.to_owned());
        canary(place)
    };
    let person = world.path("person");
    for name in IN_HOME {
        write_private(&person.join(name), &secret(name));
    }
    world.plant("HOME", person.to_str().unwrap());
    for name in IN_ENVIRONMENT {
        world.plant(name, &secret(name));
    }
    write_private(&world.path("file.key"), &secret("key file"));
    write_private(&world.path("command.key"), &secret("key command"));
    let (file, command, url) = (world.path("file.key"), world.path("command.key"), telltale());
    let upstream = |name: &str, base: &str, models: &str, key: &str| {
        format!(
            "[[upstream]]\nname = {name:?}\nwire = [\"messages\"]\nbase_url = {base:?}\nmodels = [{models}]\nkey = {{ {key} }}\n"
        )
    };
    let gateway = [
        format!("# {}\n", secret("comment in gateway.toml")),
        upstream("file", &url, "\"talkative\", \"angry\"", &format!("file = {file:?}")),
        upstream("env", &url, "\"forbidding\", \"unwell\"", "env = \"LAB_KEY\""),
        upstream("gone", "http://127.0.0.1:9", "\"away\"", &format!("command = [\"cat\", {command:?}]")),
        "[[price]]\nmodel = \"*\"\ninput = 1_000_000\noutput = 1_000_000\n".to_owned(),
    ];
    std::fs::write(world.home().join("gateway.toml"), gateway.concat()).unwrap();
    world.edit("placet.toml", |text| format!("# {}\n{text}", secret("comment in placet.toml")));
    secret("cookie of the upstream");
    secret("account of the upstream");
    planted
}

/// What else must not be known in a cage: the tokens of everybody.
fn with_tokens(world: &World, mut planted: BTreeMap<String, String>) -> BTreeMap<String, String> {
    for entry in std::fs::read_dir(world.home().join("tokens")).unwrap().flatten() {
        let token = std::fs::read_to_string(entry.path()).unwrap().trim().to_owned();
        planted.insert(token, format!("token file {:?}", entry.file_name()));
    }
    planted
}

/// Lines of a search that tell of something that was planted, by its place.
fn recognised(planted: &BTreeMap<String, String>, told: &str) -> Vec<String> {
    let digest = |secret: &str| Digest::of(secret.as_bytes()).to_string().trim_start_matches("sha256:").to_owned();
    let found = planted.iter().flat_map(|(secret, place)| {
        told.lines()
            .filter(move |line| line.contains(&digest(secret)) || line.contains(secret.as_str()))
            .map(move |line| format!("{place}: {line}"))
    });
    found.collect()
}

/// Everything below, as one text.
fn all_of(dir: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(all_of(&path));
        } else {
            all.extend(std::fs::read(&path).unwrap_or_default());
        }
    }
    all
}

/// The same search, by somebody who is in no cage and has what the processes outside have.
fn searched_outside(world: &World) -> String {
    let search = agents("search.py");
    let code = "import sys; sys.path.insert(0, sys.argv[1])\nfrom search import found_in, in_files\nimport os\n\
                found = in_files(sys.argv[2:])[0] | found_in('environment', '\\n'.join(os.environ.values()).encode())\nprint('\\n'.join(found))";
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-I", "-B", "-c", code]).arg(search.parent().unwrap()).arg(world.dir());
    command.envs(world.planted());
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn r24_canaries_planted_everywhere_outside_are_found_nowhere_inside() {
    let mut planted = BTreeMap::new();
    let scene = Scene::prepared("", |world| planted = plant(world));
    let world = &scene.world;
    let planted = with_tokens(world, planted);
    let outside = recognised(&planted, &searched_outside(world));
    let places: std::collections::BTreeSet<&str> = outside.iter().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(places.len(), planted.len() - 2, "the search finds all but what only the upstream says: {places:?}");

    let search = agents("search.py");
    let options = ["--agent-file", search.to_str().unwrap(), "--budget-usd", "5"];
    let run = scene.start("canaries.py", &["look"], &options);
    scene.approve_action(&run);
    let seen = scene.reaches(&run, "PENDING_EXPORT");
    let said = seen["said"].as_str().unwrap();
    let mut lines = said.lines();
    let looked = lines.next().unwrap();
    assert!(looked.starts_with("looked at ") && !looked.contains(" 0 "), "{said}");
    let answers = lines.next().unwrap();
    for status in ["200", "400", "401", "403", "404", "500", "502"] {
        assert!(answers.contains(status), "each kind of answer was looked at: {answers}");
    }
    assert_eq!((lines.next(), lines.collect::<Vec<_>>()), (Some("SUCCEEDED"), Vec::new()), "the agent found nothing");

    let action = world.json("ada", &["run", "show", &run])["actions"][0]["id"].as_str().unwrap().to_owned();
    let printed = String::from_utf8(world.evidence(&action, "stdout")).unwrap();
    assert!(printed.contains("looked at ") && !printed.contains("looked at 0"), "{printed}");
    assert!(!printed.contains("plc_"), "not even the agent's own token is in the cage of an action: {printed}");
    assert_eq!(recognised(&planted, &printed), Vec::<String>::new());

    world.by("admin", &["ledger", "export", "exported"]).ok();
    let logs = [world.control().stderr(), scene.worker.as_ref().unwrap().stderr()].concat();
    for (place, bytes) in [
        ("the ledger", all_of(&world.path("exported"))),
        ("what the control plane keeps", all_of(&world.home().join("data"))),
        ("what the worker keeps", all_of(&world.path("scratch"))),
        ("logs", logs.into_bytes()),
    ] {
        let text = String::from_utf8_lossy(&bytes);
        let found: Vec<&String> =
            planted.iter().filter(|(secret, _)| text.contains(*secret)).map(|(_, at)| at).collect();
        assert_eq!(found, Vec::<&String>::new(), "{place}");
    }
}
