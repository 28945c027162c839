#!/bin/sh
# Writes bindings.rs from RocksDB's C header. Run it by hand when a function is added to functions.txt; the result is checked in.
#
#   cargo install bindgen-cli --version 0.73.2      (needs libclang)
#   apt-get install librocksdb-dev libclang-dev     (the header of 7.8.3 was used)
#
# --dynamic-loading: functions become fields found in a library at run time; a missing one is an Err in its field, not a
# failed load. No doc comments: the file is ours, the header's prose is not.
set -eu
cd "$(dirname "$0")"
header=${1:-/usr/include/rocksdb/c.h}
allow=$(grep -v '^#' functions.txt | tr '\n' '|' | sed 's/|$//')
bindgen "$header" \
    --dynamic-loading RocksDb \
    --no-doc-comments \
    --no-layout-tests \
    --wrap-unsafe-ops \
    --rust-target 1.85 \
    --rust-edition 2024 \
    --raw-line '// Made by bindings.sh from rocksdb/c.h; do not edit.' \
    --allowlist-function "$allow" \
    --output bindings.rs
