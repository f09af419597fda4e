#!/bin/sh
# Makes gen/ anew from the protos, and writes down from which: generated.test.ts compares that without Go.
set -eu
cd "$(dirname "$0")/../.."
npm exec -- buf generate --template plugin-host/sdk-go/buf.gen.yaml
find proto/clawd/plugin -name '*.proto' | LC_ALL=C sort | xargs cat | sha256sum | cut -d' ' -f1 >plugin-host/sdk-go/gen/protos.sha256
