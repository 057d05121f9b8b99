//! Which requests are refused before anything happens, and how they are told.

use super::*;

#[test]
fn an_ordinary_request_is_accepted() {
    let request = Request::new(["echo", "hello"])
        .env("GREETING", "good day")
        .workspace("/srv/run/1")
        .read_only("/usr/share/dict/words", "/opt/words");
    assert_eq!(request.check(), Ok(()));
}

#[test]
fn a_program_is_a_name_or_an_absolute_path() {
    assert_eq!(Request::new(Vec::<String>::new()).check(), Err(RequestError::NoCommand));
    assert_eq!(Request::new([""]).check(), Err(RequestError::NoCommand));
    assert_eq!(Request::new(["./run"]).check(), Err(RequestError::RelativeProgram("./run".into())));
    assert_eq!(Request::new(["echo", "a\0b"]).check(), Err(RequestError::Nul("a\0b".into())));
}

#[test]
fn variables_that_loaders_and_shells_obey_are_refused_with_their_reason() {
    for name in ["LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "BASH_ENV", "BASH_FUNC_ls", "PATH"] {
        let refused = Request::new(["true"]).env(name, "x").check();
        assert!(matches!(refused, Err(RequestError::VariableRefused { .. })), "{name}: {refused:?}");
    }
    for name in ["", "1A", "A B", "A=B", "Ä"] {
        assert_eq!(Request::new(["true"]).env(name, "x").check(), Err(RequestError::VariableName(name.into())));
    }
}

#[test]
fn read_only_files_go_only_where_nothing_else_is() {
    for place in ["/opt", "/usr/bin/x", "/work/x", "/etc/passwd", "/opt/../etc/x", "opt/x", "/tmp/x"] {
        let refused = Request::new(["true"]).read_only("/bin/sh", place).check();
        assert_eq!(refused, Err(RequestError::CagePath(place.into())), "{place}");
    }
    let twice = Request::new(["true"]).read_only("/bin/sh", "/opt/a").read_only("/bin/sh", "/opt/a/b");
    assert_eq!(twice.check(), Err(RequestError::MountedTwice("/opt/a/b".into())));
}

fn layers(lower: &str, private: &str) -> Layers {
    Layers::new(lower, format!("{private}/upper"), format!("{private}/work"))
}

#[test]
fn a_layer_may_appear_at_its_own_host_path_but_never_where_the_cage_has_something() {
    let request = |at: &str| Request::new(["true"]).layer(layers("/srv/repo/.git", "/srv/run/git"), at);
    for place in ["/srv/repo/.git", "/root/repo/.git", "/var/lib/repo", "/tmp/repo/.git", "/opt/git"] {
        assert_eq!(request(place).check(), Ok(()), "{place}");
    }
    for place in ["/", "/usr", "/usr/share/x", "/etc/ld.so.preload", "/work/.git", "/proc/x", "relative", "/a/../b"] {
        assert_eq!(request(place).check(), Err(RequestError::LayerPath(place.into())), "{place}");
    }
}

#[test]
fn layers_do_not_overlap_and_keep_their_private_directories_together() {
    let check = |layers: Layers| Request::new(["true"]).workspace(layers).check();
    assert_eq!(check(layers("/srv/repo", "/srv/run")), Ok(()));
    let apart = check(Layers::new("/srv/repo", "/srv/a/upper", "/srv/b/work"));
    assert!(matches!(apart, Err(RequestError::NotSiblings { .. })), "{apart:?}");
    let same = check(Layers::new("/srv/repo", "/srv/a/upper", "/srv/a/upper"));
    assert!(matches!(same, Err(RequestError::NotSiblings { .. })), "{same:?}");
    for private in ["/srv/repo/.run", "/srv/repo"] {
        let inside = check(layers("/srv/repo", private));
        assert!(matches!(inside, Err(RequestError::LayerInLayer { .. })), "{inside:?}");
    }
    let shared =
        Request::new(["true"]).workspace(layers("/srv/a", "/srv/run")).layer(layers("/srv/b", "/srv/run"), "/b");
    assert_eq!(shared.check(), Err(RequestError::LayerShared("/srv/run/upper".into())));
}

#[test]
fn doors_have_ports_of_their_own_and_are_few() {
    let with = |ports: &[u16]| ports.iter().fold(Request::new(["true"]), |request, port| request.door(*port)).check();
    let port = |refused: Result<(), RequestError>| match refused {
        Err(RequestError::Door { port, .. }) => Some(port),
        Ok(()) | Err(_) => None,
    };
    assert_eq!(with(&[80, 3_128, 4_000, 65_535]), Ok(()));
    assert_eq!(port(with(&[3_128, 0])), Some(0));
    assert_eq!(port(with(&[3_128, 3_128])), Some(3_128));
    assert_eq!(port(with(&[1, 2, 3, 4, 5])), Some(5));
}

#[test]
fn sizes_and_root_are_bounded() {
    let large = Request::new(["true"]).stdin(vec![0; MAX_STDIN_BYTES + 1]);
    assert!(matches!(large.check(), Err(RequestError::TooLarge { .. })));
    let root = Request::new(["true"]).host_user(HostUser { uid: 0, gid: 1 });
    assert_eq!(root.check(), Err(RequestError::RootUser));
}
