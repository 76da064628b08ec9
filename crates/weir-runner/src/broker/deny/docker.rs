//! `docker`. Access to it amounts to root on the machine, so only a few listing commands are allowed. `inspect` is not
//! one of them: it prints the environment of containers, including credentials. No option before the command is
//! accepted, since each selects another server or configuration.

use super::{FILES, HANDS_OUT, IDENTITY, Program, SHELL, STARTS, listed, no_objection};

pub(super) const DOCKER: Program = Program {
    name: "docker",
    globals: &[],
    switches: &["--version"],
    command: |words| listed(COMMANDS, words),
    refused: &[
        ("run", ROOT),
        ("create", ROOT),
        ("start", ROOT),
        ("build", ROOT),
        ("buildx", ROOT),
        ("compose", ROOT),
        ("stack", ROOT),
        ("service", ROOT),
        ("swarm", ROOT),
        ("exec", SHELL),
        ("attach", SHELL),
        ("cp", FILES),
        ("save", FILES),
        ("load", FILES),
        ("import", FILES),
        ("export", FILES),
        ("commit", FILES),
        ("login", HANDS_OUT),
        ("context", IDENTITY),
        ("plugin", STARTS),
        ("inspect", HANDS_OUT),
        ("container run", ROOT),
        ("container create", ROOT),
        ("container exec", SHELL),
        ("container cp", FILES),
        ("container inspect", HANDS_OUT),
        ("image build", ROOT),
        ("image save", FILES),
        ("volume create", ROOT),
        ("system prune", "it removes things"),
    ],
    options: &[
        ("-H", IDENTITY),
        ("--host", IDENTITY),
        ("--context", IDENTITY),
        ("--config", IDENTITY),
        ("--tls", IDENTITY),
        ("--tlscacert", IDENTITY),
        ("--tlscert", IDENTITY),
        ("--tlskey", IDENTITY),
        ("--tlsverify", IDENTITY),
    ],
    abbreviates: false,
    valued: "",
    arguments: no_objection,
};

const ROOT: &str = "a container with access to the machine's files has root on the machine";

pub(super) const COMMANDS: &[&str] = &[
    "container diff", "container list", "container logs", "container ls", "container port", "container ps",
    "container stats", "container top", "diff", "events", "history", "image history", "image list", "image ls",
    "images", "info", "logs", "network list", "network ls", "port", "ps", "stats", "system df", "system events",
    "system info", "top", "version", "volume list", "volume ls",
];
