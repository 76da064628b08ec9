//! Handmade `.git` folders.

use std::path::Path;

use super::{Case, archive, check, link, pipe, put};

fn repository(top: &Path, head: &str) {
    put(top, ".git/HEAD", head);
    put(top, ".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
    put(top, ".git/refs/heads/other", format!("{}\n", "0".repeat(40)));
    put(top, ".git/objects/info/packs", "");
}

const MAIN: &str = "ref: refs/heads/main\n";

const CASES: &[Case] = &[
    archive("a pipe", |top| pipe(top, ".git")),
    archive("a link to zeros", |top| link(top, ".git", "/dev/zero")),
    archive("a file of 100 GB", |top| {
        put(top, ".git", "gitdir: ");
        std::fs::File::options().write(true).open(top.join(".git")).unwrap().set_len(100 << 30).unwrap();
    }),
    archive("another project's", |top| put(top, ".git", "gitdir: ../other/.git\n")),
    archive("a link to another project's", |top| link(top, ".git", "../other/.git")),
    archive("its common folder is another project's", |top| {
        repository(top, MAIN);
        put(top, ".git/commondir", "../../other/.git\n");
    }),
    archive("a work tree that the other does not know", |top| {
        put(top, ".git", "gitdir: fake/worktrees/x\n");
        put(top, "fake/worktrees/x/HEAD", MAIN);
        put(top, "fake/worktrees/x/commondir", "../../../../other/.git\n");
        put(top, "fake/worktrees/x/gitdir", "../../../.git\n");
    }),
    archive("packed references are zeros", |top| {
        repository(top, MAIN);
        link(top, ".git/packed-refs", "/dev/zero");
    }),
    archive("packed references are one long line", |top| {
        repository(top, MAIN);
        put(top, ".git/packed-refs", "x".repeat(8 << 20));
    }),
    archive("a branch that is zeros", |top| {
        repository(top, MAIN);
        link(top, ".git/refs/heads/main", "/dev/zero");
    }),
    archive("a head that goes up", |top| {
        repository(top, &format!("ref: refs/heads/{}dev/zero\n", "../".repeat(30)));
    }),
    archive("a head that is absolute", |top| repository(top, "ref: /dev/zero\n")),
    archive("a head that is zeros", |top| {
        repository(top, MAIN);
        std::fs::remove_file(top.join(".git/HEAD")).unwrap();
        link(top, ".git/HEAD", "/dev/zero");
    }),
    archive("a head that is a pipe", |top| {
        repository(top, MAIN);
        std::fs::remove_file(top.join(".git/HEAD")).unwrap();
        pipe(top, ".git/HEAD");
    }),
    archive("a branch with an odd name", |top| repository(top, "ref: refs/heads/\u{1b}[31mred\u{202e} $(id)\n")),
    archive("a configuration of zeros", |top| {
        repository(top, MAIN);
        std::fs::remove_file(top.join(".git/config")).unwrap();
        link(top, ".git/config", "/dev/zero");
    }),
    archive("a configuration that runs programs", |top| {
        repository(top, MAIN);
        put(top, "evil.sh", "#!/bin/sh\ntouch ../outside/owned \"$HOME/owned\"\n");
        let script = "sh ./evil.sh";
        let config = format!(
            "[core]\n\tfsmonitor = {script}\n\thooksPath = .\n\tpager = {script}\n\tsshCommand = {script}\n\
             \teditor = {script}\n[gpg]\n\tprogram = {script}\n[log]\n\tshowSignature = true\n\
             [diff]\n\texternal = {script}\n[alias]\n\tlog = !{script}\n[include]\n\tpath = /dev/zero\n"
        );
        put(top, ".git/config", config);
    }),
    archive("the remote and the history of another project", |top| {
        repository(top, MAIN);
        let commit = std::fs::read(top.with_file_name("other").join(".git/refs/heads/main")).unwrap();
        put(top, ".git/refs/heads/main", commit);
        put(top, ".git/objects/info/alternates", "../../../other/.git/objects\n");
        put(top, ".git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/other.git\n");
    }),
];

#[test]
fn a_git_folder_that_is_elsewhere_opens_nothing_there() {
    check(&CASES[..7]);
}

#[test]
fn git_files_are_bounded_and_stay_below_their_folder() {
    check(&CASES[7..12]);
}

#[test]
fn heads_and_configurations_are_data() {
    check(&CASES[12..]);
}
