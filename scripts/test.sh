#!/bin/sh
# Runs all tests. Installs the system packages that some tests need (a RocksDB library; Chromium), where apt-get and the right to use
# it are there.
set -eu
cd "$(dirname "$0")/.."
if ! ls /usr/lib/*/librocksdb.so* /usr/local/lib/librocksdb.* >/dev/null 2>&1 && [ -z "${ABSTAT_ROCKSDB:-}" ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo="sudo -n"
    if command -v apt-get >/dev/null 2>&1; then
        $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq librocksdb7.8 ||
            echo "scripts/test.sh: could not install librocksdb7.8; tests on RocksDB are left out" >&2
    fi
fi
if ! { command -v chromium && command -v chromedriver; } >/dev/null 2>&1; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo="sudo -n"
    if command -v apt-get >/dev/null 2>&1; then
        $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver ||
            echo "scripts/test.sh: could not install chromium; tests of the HTML report in a browser are left out" >&2
    fi
fi
cargo test --all-targets "$@"
cargo test --doc "$@"
