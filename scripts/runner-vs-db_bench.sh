#!/bin/sh
# Holds `abstat run` against db_bench on the same library: fillseq, overwrite, readrandom, one thread, all data cached.
#
#   scripts/runner-vs-db_bench.sh [PAIRS]        (default 15)
#
# Each pair runs both programs one after the other, the first one in turn, so that drift of the machine hits both alike. What counts is
# the mean of the ratios of the pairs and its interval, which abstat itself gives in the end (`--paired`). Expected: puts within 5 % of
# db_bench, pinned gets no different from it. Seen on 2 cores with RocksDB 7.8.3, 20 pairs each: fillseq -2.1 % (95 % interval -3.0 .. -1.5),
# overwrite +0.3 % (-3.3 .. +1.5), readrandom +1.8 % (-2.5 .. +5.6). RocksDB's own counters are off on both sides: with them a put takes 6 %
# more. Run it by hand on an idle machine; it is no part of CI.
#
# Needs db_bench (Debian: rocksdb-tools) and a release build. Environment: ABSTAT (target/release/abstat), DB_BENCH (db_bench),
# KEYS (200000), BENCHMARKS ("fillseq overwrite readrandom"), OUT (a directory that gets the samples of both sides, default: none), DIR (a
# directory for databases; default /dev/shm where it has 2 GB free, so that no disk is measured, else the system's for temporary files).
set -eu

pairs=${1:-15}
abstat=$(realpath "${ABSTAT:-target/release/abstat}")
db_bench=${DB_BENCH:-db_bench}
keys=${KEYS:-200000}
benchmarks=${BENCHMARKS:-fillseq overwrite readrandom}
key_size=20
value_size=400
cache=$((256 << 20))

library=$(ldd "$(command -v "$db_bench")" | awk '/librocksdb/ { print $3 }')
[ -n "$library" ] || { echo "$db_bench is not linked to a shared librocksdb: nothing to compare on equal terms" >&2; exit 2; }

free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $1 == "tmpfs" { print $4 }')
if [ -n "${DIR:-}" ]; then
    dir=$DIR
elif [ "${free:-0}" -ge $((2 << 20)) ]; then
    dir=/dev/shm
else
    dir=${TMPDIR:-/tmp}
fi
work=$(mktemp -d "$dir/runner-vs-db_bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/db"

# Operations a second of one run of $1.
theirs() {
    case $1 in
    fillseq) list=fillseq ;;
    *) list=fillseq,flush,waitforcompaction,$1 ;;
    esac
    # Enough reads that the cold cache of the beginning does not decide. Pipelined writes are db_bench's
    # choice and not RocksDB's default; the rest is the same on both sides.
    "$db_bench" --benchmarks="$list" --num="$keys" --reads=$((5 * keys)) --key_size=$key_size --value_size=$value_size --threads=1 --seed=42 \
        --compression_type=none --cache_size=$cache --bloom_bits=-1 --open_files=-1 --enable_pipelined_write=false \
        --db="$work/db/theirs" 2>"$work/err" | awk -v name="$1" '$1 == name && /ops\/sec/ { print $5 }'
    rm -rf "$work/db/theirs"
}

ours() {
    case $1 in
    fillseq) set -- put --order seq --fresh ;;
    overwrite) set -- put --ops "$keys" ;;
    readrandom) set -- get-pinned --ops $((5 * keys)) ;;
    esac
    "$abstat" run "$@" --engine "$library" --keys "$keys" --key-size $key_size --value-size $value_size --compression none \
        --cache-size $cache --forks 1 --warmup 0 --iterations 1 --dir "$work/db" -f go 2>"$work/err" |
        awk '/^Benchmark/ { for (i = 2; i < NF; i++) if ($(i + 1) == "op/sec") printf "%d\n", $i }'
}

for side in db_bench abstat-run; do
    printf 'rocksdb: %s\ndir: %s\nUnit op/sec better=higher\n' "$library" "$dir" >"$work/$side.txt"
done
echo "library $library; databases in $dir; $pairs pairs; $keys keys of $key_size + $value_size bytes"
for benchmark in $benchmarks; do
    : >"$work/ratios"
    i=0
    while [ $i -lt "$pairs" ]; do
        if [ $((i % 2)) -eq 0 ]; then
            a=$(theirs "$benchmark"); b=$(ours "$benchmark")
        else
            b=$(ours "$benchmark"); a=$(theirs "$benchmark")
        fi
        if [ -z "$a" ] || [ -z "$b" ]; then
            echo "$benchmark: no figure; the last words were:" >&2
            tail -5 "$work/err" >&2
            exit 2
        fi
        printf 'Benchmark/%s\t%s\t%s op/sec\n' "$benchmark" "$keys" "$a" >>"$work/db_bench.txt"
        printf 'Benchmark/%s\t%s\t%s op/sec\n' "$benchmark" "$keys" "$b" >>"$work/abstat-run.txt"
        awk -v a="$a" -v b="$b" 'BEGIN { printf "%.3f\n", b / a }' >>"$work/ratios"
        i=$((i + 1))
    done
    echo "$benchmark, ratios of the pairs: $(sort -n "$work/ratios" | tr '\n' ' ')"
done
[ -z "${OUT:-}" ] || cp "$work/db_bench.txt" "$work/abstat-run.txt" "$OUT"

# Change of the mean of the pairs' ratios with its interval at 95 %.
(cd "$work" && "$abstat" --paired --margin 5% db_bench.txt abstat-run.txt) || exit 2
