# Short names for what one does often. `.ci/run` is the gate itself, and needs no `just`.

# List the recipes
default:
    @"{{ just_executable() }}" --list

# Everything the gate checks, in its order; or a tier (`quick`, `full`, `nightly`), or some steps
ci *steps:
    .ci/run {{ steps }}

# The tests that need no client; arguments go to nextest
test *args:
    .ci/postgres run -- cargo nextest run --workspace {{ args }}
    cargo test --doc --workspace --quiet

# Formatting, spelling, tidiness and clippy, without changing anything
lint:
    .ci/run tools fmt typos tidy clippy

# Format everything
fmt:
    cargo fmt --all

# The documentation of all crates
docs:
    .ci/run docs

# What neither rustc nor clippy knows about this repository
tidy:
    cargo run --quiet -p xtask -- tidy

# The tests with the real clients, in a module named `e2e`
e2e *args:
    .ci/run tools clients
    WEIR_E2E_CLIENTS="${WEIR_CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weir-ci}/clients" \
        cargo nextest run --workspace --run-ignored only {{ args }}

# Fuzz one target, or `all`, for a number of seconds; without arguments it lists the targets
fuzz *args:
    .ci/fuzz {{ args }}

# Build what is released, into dist
release *args:
    .ci/release {{ args }}

# The measurements next to bare engines; without arguments it says which there are
bench *args:
    cargo run --release --quiet -p weir-bench -- {{ args }}

# Install `weir` from this checkout
install:
    cargo install --locked --path crates/weir
