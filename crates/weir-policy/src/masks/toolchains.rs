//! The list of paths in a home folder that a run sees besides the project: toolchains, their packages, and settings of
//! tools that hold no secrets. Everything else below the home folder is hidden.
//!
//! An entry is a path below the home folder, with `*` in one of its components. Secrets inside these folders stay
//! hidden by [`HOME`](super::secrets::HOME).

/// Paths below the home folder that every run may read.
pub const TOOLCHAINS: &[&str] = &[
    // The user's own programs and libraries.
    ".local/bin", ".local/lib", ".local/opt", ".nix-profile", ".local/state/nix/profiles", ".linuxbrew",
    ".local/share/fonts", ".fonts", ".config/fontconfig", // Version managers of several languages.
    ".asdf", ".local/share/mise", ".config/mise/config.toml", ".proto", ".tool-versions", // Rust.
    ".cargo", ".rustup", ".config/rustfmt", // C and C++.
    ".ccache", ".cache/ccache", ".cache/sccache", ".conan/data", ".conan2/p", ".cache/vcpkg", ".cache/bazel",
    ".cache/bazelisk", ".clang-format", ".clang-tidy", "emsdk", ".platformio", ".espressif", // Go.
    "go", "sdk/go*", ".gvm", ".goenv", ".config/go", ".cache/go-build", // Python.
    ".pyenv", ".local/share/uv", ".local/share/pipx", ".local/pipx", ".local/share/virtualenvs",
    ".local/share/pypoetry", ".local/share/hatch", ".virtualenvs", ".rye", ".pixi", ".conda", "miniconda3",
    "anaconda3", "miniforge3", "mambaforge", "micromamba", ".cache/pip", ".cache/uv", ".cache/pypoetry",
    ".cache/pre-commit", ".cache/huggingface", ".cache/torch", "nltk_data", // JavaScript.
    ".nvm", ".volta", ".fnm", ".local/share/fnm", ".local/state/fnm_multishells", ".nodenv", ".n", "n",
    ".npm/_cacache", ".npm/_npx", ".npm-global", ".npm-packages", ".yarn", ".config/yarn/global", ".cache/yarn",
    ".local/share/pnpm", ".cache/pnpm", ".pnpm-store", ".cache/node", ".cache/node-gyp", ".node-gyp",
    ".cache/electron", ".cache/ms-playwright", ".cache/puppeteer", ".cache/Cypress", ".bun", ".deno", ".cache/deno",
    // The Java virtual machine.
    ".sdkman", ".jenv", ".jabba", ".jdks", ".m2", ".gradle/caches", ".gradle/wrapper", ".gradle/jdks", ".gradle/native",
    ".ivy2", ".sbt", ".coursier", ".cache/coursier", ".local/share/coursier", ".konan", "Android/Sdk",
    // .NET.
    ".dotnet", ".nuget/packages", // Ruby.
    ".rbenv", ".rvm", ".rubies", ".gem", ".local/share/gem", ".bundle/cache", // PHP and Perl.
    ".phpenv", ".phpbrew", ".composer/vendor", ".composer/cache", ".config/composer/vendor", ".cache/composer",
    "perl5", ".plenv", // R and Julia.
    "R", ".cache/R", ".local/share/renv", ".julia", ".juliaup", // Elixir and Erlang.
    ".mix", ".hex", ".kiex", ".kerl", ".cache/rebar3", // Haskell, OCaml, Lean.
    ".ghcup", ".stack", ".cabal", ".local/state/cabal", ".opam", ".elan",
    // Dart, Swift, Zig, Nim, Lua and others.
    ".pub-cache", "flutter", ".fvm", "fvm", ".swiftly", ".local/share/swiftly", ".swiftpm", ".cache/zig", ".zvm",
    ".nimble", ".choosenim", ".luarocks", ".foundry", ".svm", ".wasmtime", ".tfenv", ".terraform.d/plugins",
    ".terraform.d/plugin-cache", ".pulumi/plugins", ".krew",
    // Settings without which tools behave incorrectly.
    ".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".gitattributes", ".editorconfig", ".rustfmt.toml",
    ".ripgreprc",
];

/// Folders that contain home folders. Only listed paths in them are shown.
pub const HOMES: &[&str] = &["/home", "/root", "/Users", "/var/home"];

/// Paths in them that are shown although they are not in a user's home folder.
pub const SHARED: &[&str] = &["/home/linuxbrew/.linuxbrew"];
