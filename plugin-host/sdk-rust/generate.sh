#!/bin/sh
# Writes src/wire anew after a change of the protos. Needs buf (npm brings it) and cargo, and is run from the repository:
#   npm exec -- plugin-host/sdk-rust/generate.sh
set -eu
cd "$(dirname "$0")/../.."
sdk=plugin-host/sdk-rust
descriptors=$(mktemp)
trap 'rm -f "$descriptors"' EXIT
buf build --as-file-descriptor-set -o "$descriptors#format=binpb" \
  --path proto/clawd/plugin --path proto/grpc/health
rm -f $sdk/src/wire/*.rs
cargo run --quiet --locked --manifest-path $sdk/generate/Cargo.toml -- "$descriptors" $sdk/src/wire
cargo fmt --manifest-path $sdk/Cargo.toml
# What it was made of: a test compares, so that nobody needs Rust to see that it is stale.
sha256sum proto/clawd/plugin/*/*.proto proto/grpc/health/*/*.proto >$sdk/src/wire/protos.sha256
