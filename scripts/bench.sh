#!/usr/bin/env bash
# Measures abstat on this machine and prints one Markdown table.
#
#   scripts/bench.sh            everything: about ten minutes with the builds, 600 MB in target/bench
#   scripts/bench.sh --quick    whole runs only, not the benchmarks of single stages (cargo bench)
#   scripts/bench.sh --readme   as well puts the table into README.md, between its two marks
#
# Whole runs are compared with an awk that only adds up the numbers of the same files, and with benchstat where it is on the PATH; the
# programs run in turns, and medians are shown. A quiet machine is asked for: nothing else should run.
# BENCH_LINES, BENCH_PAIRS and BENCH_STARTS set how much is measured.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
lines=${BENCH_LINES:-1000000} pairs=${BENCH_PAIRS:-5} starts=${BENCH_STARTS:-200}
quick="" readme=""
for arg in "$@"; do
    case "$arg" in
    --quick) quick=1 ;;
    --readme) readme=1 ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done

say() { printf '%s\n' "$*" >&2; }
row() { printf '| %s | %s | %s |\n' "$@" >>"$table"; }
calc() { awk "BEGIN { printf \"$1\", $2 }"; }
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
thousands() { sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"; }

say "building"
cargo build --release --quiet --bin abstat --example generate
[ -n "$quick" ] || cargo bench --quiet --bench speed --no-run
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
abstat=$target/release/abstat generate=$target/release/examples/generate
dir=$target/bench
mkdir -p "$dir"
table=$dir/table.md
: >"$table"

# CPU seconds (user and system) and elapsed seconds of a command.
seconds() {
    local TIMEFORMAT='%U %S %R'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ cpu = $1 + $2; print (cpu > 0 ? cpu : 0.001), $3 }'
}

# Most memory that a command held, in KiB: of GNU time, else as last seen in /proc.
peak() {
    if [ -x /usr/bin/time ] && /usr/bin/time -f %M true >/dev/null 2>&1; then
        /usr/bin/time -o "$dir/peak" -f %M "$@" >/dev/null 2>&1
        cat "$dir/peak"
        return
    fi
    local most=0 seen
    "$@" >/dev/null 2>&1 &
    while seen=$(awk '/^VmHWM/ { print $2 }' "/proc/$!/status" 2>/dev/null) && [ -n "$seen" ]; do
        most=$seen
    done
    wait $!
    echo "$most"
}

if command -v mawk >/dev/null; then awk=mawk; else awk=awk; fi
[ $awk = mawk ] || say "mawk is not on the PATH: compared with $(readlink -f "$(command -v awk)") instead, which may be slower"
benchstat=$(command -v benchstat || true)
case "$(readlink -f "$benchstat")" in */abstat) benchstat="" ;; esac
[ -n "$benchstat" ] || say "benchstat is not on the PATH: not compared with it"

whole() {
    local shape=$1 what=$2 old=$dir/$1-old.txt new=$dir/$1-new.txt
    say "$shape: writing $lines lines twice"
    "$generate" "$shape" "$lines" old >"$old"
    "$generate" "$shape" "$lines" new >"$new"
    "$abstat" "$old" "$new" >"$dir/$shape-report.txt" 2>/dev/null # fails here, not in the middle of measuring
    rm -f "$dir"/seconds.*
    local i
    for ((i = 1; i <= pairs; i++)); do
        say "$shape: turn $i of $pairs"
        seconds "$abstat" "$old" "$new" >>"$dir/seconds.abstat"
        seconds $awk '{s+=$3+$5+$7+$9} END{print s}' "$old" "$new" >>"$dir/seconds.awk"
        seconds "$abstat" benchstat "$old" "$new" >>"$dir/seconds.drop-in"
        # It takes many times as long: one run tells.
        if [ -n "$benchstat" ] && [ "$i" = 1 ]; then seconds "$benchstat" "$old" "$new" >>"$dir/seconds.benchstat"; fi
    done
    local cpu elapsed other ratio bytes kib
    cpu=$(cut -d' ' -f1 "$dir/seconds.abstat" | median)
    elapsed=$(cut -d' ' -f2 "$dir/seconds.abstat" | median)
    other=$(cut -d' ' -f1 "$dir/seconds.awk" | median)
    ratio=$(paste -d' ' "$dir/seconds.abstat" "$dir/seconds.awk" | awk '{ print $1 / $3 }' | median)
    bytes=$(cat "$old" "$new" | wc -c)
    kib=$(for i in 1 2 3; do peak "$abstat" "$old" "$new"; done | median)
    row "$what: CPU" "$(calc %.2f "$cpu") s, $(calc %.0f "$bytes/$cpu/1e6") MB/s" \
        "$(calc %.2f "$ratio") × $awk adding up the same numbers ($(calc %.2f "$other") s)"
    if [ -n "$benchstat" ]; then
        other=$(cut -d' ' -f1 "$dir/seconds.benchstat")
        row "... beside benchstat" "1/$(calc %.0f "$other/$cpu") of its CPU" "benchstat: $(calc %.1f "$other") s"
    fi
    row "... elapsed" "$(calc %.2f "$elapsed") s" "as \`abstat benchstat\`: $(calc %.2f "$(cut -d' ' -f2 "$dir/seconds.drop-in" | median)") s"
    row "... most memory" "$(calc %.0f "$kib/1024") MiB" \
        "$(calc %.1f "$kib*1024/($lines*8)") bytes for each of $(thousands $((lines * 8))) values"
}

row measured abstat beside
row :-- :-- :--
files="2 files of $(thousands "$lines") lines"
whole few "$files, $(thousands $((lines / 20))) runs of 20 benchmarks"
whole many "$files, 10 runs of $(thousands $((lines / 10))) benchmarks"

say "start to exit: $starts times"
for side in old new; do "$generate" many 100 $side >"$dir/small-$side.txt"; done
rm -f "$dir"/start.*
for ((i = 0; i < starts; i++)); do
    a=$EPOCHREALTIME
    "$abstat" "$dir/small-old.txt" "$dir/small-new.txt" >/dev/null
    b=$EPOCHREALTIME
    /bin/true
    c=$EPOCHREALTIME
    echo $((${b/./} - ${a/./})) >>"$dir/start.abstat"
    echo $((${c/./} - ${b/./})) >>"$dir/start.true"
done
row "2 files of 100 lines: start to exit" "$(calc %.1f "$(median <"$dir/start.abstat")/1000") ms" \
    "a program that does nothing: $(calc %.1f "$(median <"$dir/start.true")/1000") ms"
row "the binary" "$(calc %.1f "$(wc -c <"$abstat")/1e6") MB" \
    "\`$(sed -n '/^\[profile.release\]/,/^$/s/^\([a-z].*\)/\1/p' Cargo.toml | paste -sd, | sed 's/,/, /g')\`"

# Of a group of benchmarks: the rate of its largest input, and how time grew.
stage() {
    local group=$1 what=$2 unit=$3 scale=$4
    awk -F'\t' -v group="$group" -v what="$what" -v unit="$unit" -v scale="$scale" '
        $1 == group { n++; value[n] = $2 + 0; amount[n] = $3; ns[n] = $4 }
        END {
            for (i = 1; i <= n; i++) {
                if (i == 1 || value[i] < value[least]) least = i
                if (i == 1 || value[i] > value[most]) most = i
            }
            if (n < 3) exit 1
            rate = amount[most] / ns[most] * 1e9 / scale
            grown = ns[most] / ns[least] / (amount[most] / amount[least]) * 4
            digits = rate < 10 ? 1 : 0
            printf "| %s | %.*f %s | 4 × the input takes %.1f × the time |\n", what, digits, rate, unit, grown
        }' "$dir/stages.tsv" >>"$table" || say "no figures of $group"
}

# Of a single benchmark: its time.
single() {
    awk -F'\t' -v name="$1" -v what="$2" '
        $1 == name {
            t = $4
            unit = "ns"
            if (t >= 1000) { t /= 1000; unit = "µs" }
            if (t >= 1000) { t /= 1000; unit = "ms" }
            printf "| %s | %.*f %s | |\n", what, t < 10 ? 1 : 0, t, unit
            found = 1
        }
        END { exit !found }' "$dir/stages.tsv" >>"$table" || say "no figure of $1"
}

if [ -z "$quick" ]; then
    say "stages: cargo bench, three minutes"
    mkdir -p "$target/criterion"
    touch "$dir/began"
    cargo bench --quiet --bench speed >"$dir/criterion.txt" 2>&1 || { tail -20 "$dir/criterion.txt" >&2; exit 1; }
    # Group, size, bytes or rows, nanoseconds; single benchmarks have their name in the place of the group.
    find "$target/criterion" -path '*/new/benchmark.json' -newer "$dir/began" | while read -r file; do
        field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" "$file"; }
        amount=$(sed -n 's/.*"throughput":{"[A-Za-z]*":\([0-9]*\)}.*/\1/p' "$file")
        ns=$(sed -E 's/.*"median":\{"confidence_interval":\{[^}]*\},"point_estimate":([0-9.eE+-]+).*/\1/' "${file%benchmark.json}estimates.json")
        size=$(field value_str)
        case "$size" in
        null) printf '%s\t\t\t%s\n' "$(field full_id)" "$ns" ;;
        *) printf '%s\t%s\t%s\t%s\n' "$(field group_id)" "$size" "$amount" "$ns" ;;
        esac
    done >"$dir/stages.tsv"

    read_row() { stage "read $1" "read $2, one core" MB/s 1e6; }
    read_row go-few "Go text, few benchmarks"
    read_row go-many "Go text, many benchmarks"
    read_row go-loop "Go text, runs after another"
    read_row go-json "\`go test -json\`"
    read_row jmh-log "JMH logs"
    read_row jmh-json "JMH JSON"
    read_row jmh-table "JMH tables"
    read_row db_bench "db_bench logs, all sorts"
    read_row db_bench-runs "db_bench logs, repeated runs"
    read_row report-tsv "\`report.tsv\`"
    read_row benchstat "benchstat's tables"
    read_row abstat "\`abstat convert -f jsonl\`"
    single "mann-whitney/10 v 10 untied" "Mann-Whitney, 10 v 10"
    single "mann-whitney/10 v 10 tied" "... with ties"
    single "mann-whitney/25 v 25 untied" "... 25 v 25"
    single "mann-whitney/25 v 25 tied" "... with ties"
    single "mann-whitney/200 v 200 untied" "... 200 v 200"
    single "mann-whitney/200 v 200 untied first" "... the first of a table"
    single "mann-whitney/200 v 200 tied" "... with ties"
    stage tests "Mann-Whitney, many of 10 v 10" "thousand tests/s" 1e3
    single "interval/hodges-lehmann 10 v 10" "Hodges-Lehmann, 10 v 10"
    single "interval/hodges-lehmann 200 v 200" "... 200 v 200"
    single "interval/bootstrap 10 v 10" "bootstrap, 10000 resamples, 10 v 10"
    single "interval/bootstrap 200 v 200" "... 200 v 200"
    stage "layout rows" "lay out, one core" "thousand rows/s" 1e3
    stage "compare rows" "compare, 10 values a side, one core" "thousand rows/s" 1e3
    stage "compare forked rows" "... 5 forks of 5 values" "thousand rows/s" 1e3
    stage "compare values" "... very many values" "million values/s" 1e6
    for format in text "text with plot" markdown csv json html svg "benchstat text" "benchstat csv"; do
        stage "render $format" "write $format" "thousand rows/s" 1e3
    done
fi

memory=$(awk '/^MemTotal/ { printf ", %.0f GiB of memory", $2 / 1048576 }' /proc/meminfo 2>/dev/null || true)
{
    echo "On a machine with $(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) cores ($(uname -m), $(uname -s)$memory):"
    echo
    cat "$table"
} >"$dir/speed.md"
cat "$dir/speed.md"
if [ -n "$readme" ]; then
    awk -v file="$dir/speed.md" '
        /^<!-- bench -->$/ { print; while ((getline line < file) > 0) print line; inside = 1 }
        /^<!-- \/bench -->$/ { inside = 0 }
        !inside && !/^<!-- bench -->$/' README.md >"$dir/README.md"
    cat "$dir/README.md" >README.md
fi
