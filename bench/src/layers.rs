//! Measures what a layer adds to a run: the same commands through `ctx_execute`, with and without one, in projects of
//! several sizes.

use std::path::Path;
use std::time::Duration;

use crate::figures::Figures;
use crate::server::Server;

/// The numbers of files in the projects, and how often each command is run there.
const PROJECTS: [(usize, usize); 3] = [(10, 60), (1_000, 40), (100_000, 5)];
/// The pause between two calls, in which a server prepares the next helper.
const PAUSE: Duration = Duration::from_millis(15);
/// The commands, by what they do with the files of the project.
const COMMANDS: [(&str, &str); 4] = [
    ("nothing", "echo hi"),
    ("change one", "echo x >> 0/0"),
    ("list all", "find . -type f | wc -l"),
    ("change ten", "for i in 0 1 2 3 4 5 6 7 8 9; do echo x >> 0/$i; done"),
];

/// Prints the medians and their ratios. The layer must add at most a fifth to a run that changes nothing in the
/// smallest project.
pub(crate) fn run(weir: &str) -> bool {
    println!("{:<12} {:<12} {:>9} {:>9} {:>7}", "files", "the run does", "direct ms", "layer ms", "ratio");
    let mut first = None;
    for (files, rounds) in PROJECTS {
        let home = tempfile::tempdir_in("/var/tmp").unwrap();
        let project = home.path().join("project");
        make(&project, files);
        let layered_home = home.path().join("layered");
        std::fs::create_dir_all(layered_home.join(".config/weir")).unwrap();
        std::fs::write(layered_home.join(".config/weir/config.toml"), "[run]\nlayer = \"auto\"\n").unwrap();
        let mut direct = Server::start(weir, home.path(), &project);
        let mut layered = Server::start(weir, &layered_home, &project);
        for (what, command) in COMMANDS {
            let (mut without, mut with) = (Figures::default(), Figures::default());
            for server in [&mut direct, &mut layered] {
                server.execute(command, "sandbox full");
            }
            for _ in 0..rounds {
                std::thread::sleep(PAUSE);
                without.measure(|| direct.execute(command, "sandbox full"));
                std::thread::sleep(PAUSE);
                let answer = with.measure(|| layered.execute(command, "sandbox full"));
                assert!(!answer.contains("no layer"), "{answer}");
                assert_eq!(answer.contains("changed "), what.starts_with("change"), "{answer}");
            }
            let [without, with] = [&without, &with].map(|figures| figures.quantile(0.5) / 1e3);
            println!("{files:<12} {what:<12} {without:>9.2} {with:>9.2} {:>7.2}", with / without);
            first = first.or(Some(with / without));
        }
        direct.end();
        layered.end();
    }
    first.is_some_and(|ratio| ratio <= 1.2)
}

fn make(project: &Path, files: usize) {
    for number in 0..files {
        let folder = project.join((number / 100).to_string());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join((number % 100).to_string()), format!("{number}\n")).unwrap();
    }
}
