#!/bin/bash
# Memory of abstat over a stream of 4 GB of which a filter keeps little, from a pipe and from a file: the peak must stay below 128 MiB.
#
#   scripts/memory.sh [GB] [DIRECTORY for the file, default /tmp]
#
# Needs Linux (/proc) and a release build.
set -euo pipefail
cd "$(dirname "$0")/.."
bytes=$(( ${1:-4} * 1000000000 ))
abstat=target/release/abstat
limit=$(( 128 * 1024 ))
file=$(mktemp "${2:-/tmp}/abstat-memory.XXXXXX")
trap 'rm -f "$file"' EXIT

# A log over and over: the example, each time with results of a hundred other benchmarks around it.
stream() {
    local text
    text=$(cat testdata/go/example/new.txt; for i in $(seq 100); do
        printf 'BenchmarkOther%d-8 \t 1000 \t %d.5 ns/op \t 64 B/op\n2024/05/01 10:00:00 cache of shard %d is warm\n' "$i" "$((i * 37))" "$i"
    done)
    # The end of yes is a broken pipe.
    { yes "$text" || true; } | head -c "$bytes"
}

# Runs a command on this stdin and prints its peak, as seen ten times a second.
peak() {
    local what=$1 most=0 now start=$SECONDS
    shift
    "$@" <&0 >/dev/null &
    local pid=$!
    while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
        most=$now
        sleep 0.1
    done
    wait "$pid"
    echo "$what: $(( bytes / 1000000 )) MB in $(( SECONDS - start )) s, peak $(( most / 1024 )) MiB"
    [ "$most" -gt 0 ] && [ "$most" -lt "$limit" ]
}

keep='.name:Other7 .unit:B/op'
# The stream is cut within a line, which is said.
stream | peak "pipe" "$abstat" --filter "$keep" - 2>&1
stream > "$file"
peak "file" "$abstat" --filter "$keep" "$file" < /dev/null 2>&1
