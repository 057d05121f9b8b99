//! Layered workspaces: the host's directory stays as it is, and the upper holds what changed.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use placet_sandbox::{Layers, RequestError, SandboxError, launch};

use crate::harness::tests;
use crate::world::{Layered, Workspace, eventually, profile, refused, run, sh, start};

tests![
    changes_land_in_the_upper_and_the_host_directory_stays_as_it_is,
    what_was_removed_is_a_whiteout_and_what_was_made_again_is_opaque,
    what_is_in_the_upper_belongs_to_its_owner,
    a_second_cage_sees_what_the_first_one_left,
    an_upper_belongs_to_one_cage_at_a_time,
    two_cages_above_one_directory_do_not_see_each_other,
    a_directory_below_others_can_be_renamed_by_mv,
    notes_of_the_kernel_cannot_be_forged,
    a_layer_appears_at_its_own_host_path_and_nothing_around_it_does,
    a_layer_below_a_scratch_directory_works_too,
    the_list_of_mounts_names_no_path_of_the_host,
    layers_that_are_no_directories_are_refused,
    a_layer_that_was_exchanged_is_refused,
    the_places_where_layers_were_put_together_are_gone,
];

fn changes_land_in_the_upper_and_the_host_directory_stays_as_it_is() {
    let layered = Layered::new().with("kept", "kept\n").with("deep/changed", "before\n");
    fs::set_permissions(layered.lower("kept"), fs::Permissions::from_mode(0o600)).expect("closed to others");
    let before = layered.untouched();
    let script =
        "cat kept; echo after >> deep/changed; cat deep/changed; mkdir new; echo made > new/file; ln -s kept link";
    assert_eq!(run(sh(script).workspace(layered.layers())).succeeded(), "kept\nbefore\nafter\n");
    assert_eq!(layered.untouched(), before);
    assert_eq!(fs::read_to_string(layered.upper("deep/changed")).expect("copied up"), "before\nafter\n");
    assert_eq!(fs::read_to_string(layered.upper("new/file")).expect("made"), "made\n");
    assert_eq!(fs::read_link(layered.upper("link")).expect("a link"), Path::new("kept"));
    assert!(!layered.upper("kept").exists(), "what was only read is not in the upper");
}

fn what_was_removed_is_a_whiteout_and_what_was_made_again_is_opaque() {
    let layered = Layered::new().with("gone", "x").with("again/inner", "x");
    run(sh("rm gone && rm -r again && mkdir again && touch again/new").workspace(layered.layers())).succeeded();
    let whiteout = fs::symlink_metadata(layered.upper("gone")).expect("a whiteout");
    assert!(whiteout.file_type().is_char_device() && whiteout.rdev() == 0, "{whiteout:?}");
    let mut value = [0; 8];
    let length = rustix::fs::getxattr(layered.upper("again"), "user.overlay.opaque", &mut value).expect("a note");
    assert_eq!(&value[..length], b"y");
    assert!(layered.lower("gone").exists() && layered.lower("again/inner").exists());
}

fn what_is_in_the_upper_belongs_to_its_owner() {
    let layered = Layered::new().with("file", "x");
    run(sh("echo y >> file; mkdir -p a/b; touch a/b/c").workspace(layered.layers())).succeeded();
    let owner = |path| fs::metadata(path).map(|meta| (meta.uid(), meta.gid())).expect("an owner");
    for name in ["file", "a", "a/b", "a/b/c"] {
        assert_eq!(owner(layered.upper(name)), owner(layered.upper("")), "{name}");
    }
}

fn a_second_cage_sees_what_the_first_one_left() {
    let layered = Layered::new().with("file", "x\n");
    run(sh("echo y >> file; sync file").workspace(layered.layers())).succeeded();
    assert_eq!(run(sh("cat file").workspace(layered.layers())).succeeded(), "x\ny\n");
}

fn an_upper_belongs_to_one_cage_at_a_time() {
    let layered = Layered::new();
    let first = start(sh("touch ready; sleep 60").workspace(layered.layers()));
    let error = refused(sh("true").workspace(layered.layers()));
    assert!(error.to_string().contains("another cage still uses this upper"), "{error}");
    drop(first);
    eventually("the upper is free", || launch(&profile(), sh("true").workspace(layered.layers())).is_ok());
}

fn two_cages_above_one_directory_do_not_see_each_other() {
    let one = Layered::new().with("file", "common\n");
    let other = Layered::new();
    let first =
        start(sh("echo one > file; touch ready; while test -e file; do sleep 0.05; done").workspace(one.layers()));
    eventually("the first cage wrote", || one.upper("ready").exists());
    let second = run(sh("cat file; ls; echo other > file").workspace(other.layers_above(one.lower(""))));
    assert_eq!(second.succeeded(), "common\nfile\n");
    assert_eq!(fs::read_to_string(one.upper("file")).expect("of the first"), "one\n");
    drop(first);
}

fn a_directory_below_others_can_be_renamed_by_mv() {
    let layered = Layered::new().with("old/file", "x\n");
    run(sh("mv old new && cat new/file && test ! -e old").workspace(layered.layers())).succeeded();
    assert_eq!(fs::read_to_string(layered.upper("new/file")).expect("the whole file"), "x\n");
}

fn notes_of_the_kernel_cannot_be_forged() {
    let layered = Layered::new().with("d/file", "x");
    let script = "import os\nos.mkdir('e')\nfor d in 'd','e':\n  for n in 'opaque','redirect','whiteout','metacopy':\n    \
                  try: os.setxattr(d, 'user.overlay.'+n, b'y')\n    except OSError: pass\nprint(os.listdir('d'))";
    let seen = run(placet_sandbox::Request::new(["/usr/bin/python3", "-c", script]).workspace(layered.layers()));
    assert_eq!(seen.succeeded(), "['file']\n");
    for directory in ["d", "e"] {
        for name in ["opaque", "redirect", "whiteout", "metacopy"] {
            let mut value = [0; 8];
            let found = rustix::fs::getxattr(layered.upper(directory), format!("user.overlay.{name}"), &mut value);
            let forged = found.is_ok_and(|length| &value[..length] == b"y");
            assert!(!forged, "{directory}: {name}");
        }
    }
}

fn a_layer_appears_at_its_own_host_path_and_nothing_around_it_does() {
    let workspace = Workspace::new();
    let repository = Layered::new().with("HEAD", "ref\n");
    fs::write(repository.lower("../beside"), "x").expect("a file beside");
    let (at, above) = (repository.lower("").display().to_string(), repository.lower("..").display().to_string());
    let script = format!("cd {at} && cat HEAD && echo new > HEAD && cat HEAD && ls {above}");
    let request = sh(&script).workspace(workspace.path()).layer(repository.layers(), repository.lower(""));
    assert_eq!(run(request).succeeded(), "ref\nnew\nlower\n");
    assert_eq!(fs::read_to_string(repository.lower("HEAD")).expect("of the host"), "ref\n");
    assert_eq!(fs::read_to_string(repository.upper("HEAD")).expect("in the upper"), "new\n");
}

fn a_layer_below_a_scratch_directory_works_too() {
    let layered = Layered::new().with("file", "x\n");
    let request = sh("cat ~/deep/layer/file; touch ~/deep/layer/new").layer(layered.layers(), "/home/agent/deep/layer");
    assert_eq!(run(request).succeeded(), "x\n");
    assert!(layered.upper("new").exists());
}

fn the_list_of_mounts_names_no_path_of_the_host() {
    let layered = Layered::new();
    let seen = run(sh("grep ' /work ' /proc/self/mountinfo").workspace(layered.layers())).succeeded();
    let outer = layered.lower("").parent().expect("a parent").display().to_string();
    assert!(seen.contains("overlay") && !seen.contains(&outer), "{seen}");
}

fn layers_that_are_no_directories_are_refused() {
    let layered = Layered::new().with("file", "x");
    let (upper, work) = (layered.upper(""), layered.layers().upper().with_file_name("work"));
    let error = refused(sh("true").workspace(Layers::new(layered.lower("file"), &upper, &work)));
    assert!(matches!(&error, SandboxError::Source { .. }), "{error:?}");
    let error = refused(sh("true").workspace(Layers::new(layered.lower(""), upper.with_file_name("missing"), &work)));
    assert!(matches!(&error, SandboxError::Source { .. }), "{error:?}");
    for at in ["/home", "/tmp", "/var/tmp/x", "/run"] {
        let error = refused(sh("true").layer(layered.layers(), at));
        assert!(matches!(&error, SandboxError::Request(RequestError::LayerPath(_))), "{at}: {error:?}");
    }
}

/// A link in place of the upper is resolved once, before the check; nothing follows it afterwards.
fn a_layer_that_was_exchanged_is_refused() {
    let layered = Layered::new();
    let elsewhere = Workspace::new();
    fs::remove_dir(layered.upper("")).expect("an empty directory");
    std::os::unix::fs::symlink(elsewhere.path(), layered.upper("")).expect("a link");
    let error = refused(sh("touch here").workspace(layered.layers()));
    assert!(matches!(&error, SandboxError::Request(RequestError::NotSiblings { .. })), "{error:?}");
    assert_eq!(fs::read_dir(elsewhere.path()).expect("the other directory").count(), 0);
}

fn the_places_where_layers_were_put_together_are_gone() {
    let layered = Layered::new();
    let other = Layered::new();
    // Read-only directories of the host are overlays as well where Landlock does not refuse connections to sockets.
    let script = "ls -a / | grep '^\\.[a-z]' ; grep -E ' (/work|/srv/layer) ' /proc/self/mountinfo | grep -c overlay";
    let request = sh(script).workspace(layered.layers());
    assert_eq!(run(request.layer(other.layers(), "/srv/layer")).succeeded(), "2\n");
}
