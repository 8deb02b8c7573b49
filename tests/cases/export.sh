# SPDX-License-Identifier: MIT
# Each export is taken by the program that it is for, which counts what fsreel counts.
. "$TEST_LIB/functions.sh"
requires_fuse
requires jq --version
requires sqlite3 --version
requires fio --version

mkdir data
expect 0 "$FSREEL" capture -o x.reel --dir data --workload sqlite-tpcb:transactions=50,clients=2
expect 0 "$FSREEL" stat --json x.reel
stat=$out
in_stat() { jq "$1" <<<"$stat"; }

expect 2 "$FSREEL" export x.reel
expect_text '^fsreel export: --to is missing: ' "$err"
expect 2 "$FSREEL" export x.reel --to cvs
expect_text "there is no format 'cvs'" "$err"
expect 2 "$FSREEL" export x.reel --to sqlite
expect_text 'needs -o FILE' "$err"
expect 0 "$FSREEL" export --help
for format in csv fio perfetto sqlite; do
	expect_text "^  $format " "$out"
done

# SQLite: counts and sums as in stat.
expect 0 "$FSREEL" export x.reel --to sqlite -o x.db
sqlite3 x.db 'PRAGMA integrity_check' | grep -qx ok || fail "the database is damaged"
same=$(sqlite3 x.db 'SELECT json_group_object(operation, json_array(count, failed, bytes, total_ns))
	FROM op_latency' | jq -cS .)
want=$(in_stat '.ops | map_values(select(.count > 0) | [.count, .failed, .bytes, .total_ns])' | jq -cS .)
[ "$same" = "$want" ] || fail "sqlite and stat differ: $same $want"
[ "$(sqlite3 x.db 'SELECT count(*) FROM events')" = "$(in_stat .events)" ] || fail "sqlite: events"
[ "$(sqlite3 x.db "SELECT count(*) FROM files WHERE path = 'data.db' AND at_start")" = 1 ] || fail "files"
[ "$(sqlite3 x.db "SELECT value FROM meta WHERE key = 'workload'")" != "" ] || fail "meta"

# CSV: sqlite3 imports it, and a strict reader finds as many fields in each row.
expect 0 "$FSREEL" export x.reel --to csv -o x.csv
sqlite3 y.db '.import --csv x.csv t'
same=$(sqlite3 y.db "SELECT json_group_object(operation, json_array(n, ns)) FROM (SELECT operation,
	count(*) AS n, sum(took_ns) AS ns FROM t WHERE derived = '0' GROUP BY operation)" | jq -cS .)
want=$(in_stat '.ops | map_values(select(.count > 0) | [.count, .total_ns])' | jq -cS .)
[ "$same" = "$want" ] || fail "csv and stat differ: $same $want"
"$FSREEL" export x.reel --to csv | cmp - x.csv || fail "standard output"

# Perfetto: JSON, and the calls of a track are apart or inside each other.
expect 0 "$FSREEL" export x.reel --to perfetto -o x.json
python3 - x.json "$(in_stat .events)" <<'END' || fail "the rules of the trace format"
import collections, json, sys
trace = json.load(open(sys.argv[1], encoding="utf-8"))
tracks = collections.defaultdict(list)
named = set()
for e in trace["traceEvents"]:
    if e["ph"] == "X":
        start = round(e["ts"] * 1000)
        tracks[e["pid"], e["tid"]].append((start, -start - round(e["dur"] * 1000), e["name"]))
    elif e["ph"] == "M":
        named.add((e["pid"], e["tid"]))
assert sum(map(len, tracks.values())) == int(sys.argv[2])
assert set(tracks) <= named, "a track without a name"
for calls in tracks.values():
    open_ends = []
    for start, end, name in sorted(calls):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        assert not open_ends or -end <= open_ends[-1], (start, name)
        open_ends.append(-end)
assert trace["otherData"]["workload"]
END

# fio runs it, and makes as many reads, writes and syncs.
expect 0 "$FSREEL" export x.reel --to fio -o x.fio
expect_text '^fio cannot say [0-9,]+ events of [0-9,]+:' "$err"
expect_text 'setlk [0-9,]+' "$err"
mkdir fs
(cd fs && fio --output-format=json --output=../fio.json --replay_no_stall=1 ../x.fio/replay.fio) ||
	fail "fio: $(head -5 fio.json)"
same=$(jq -c '[.jobs[] | select(.jobname != "setup")] | [(map(.error) | add), (map(.read.total_ios) | add),
	(map(.write.total_ios) | add)]' fio.json)
none=$(sqlite3 x.db "SELECT count(*) FROM calls WHERE operation = 'read' AND result <= 0")
want=$(in_stat "[0, .ops.read.count - $none, .ops.write.count]" | jq -c .)
[ "$same" = "$want" ] || fail "fio made $same (errors, reads, writes) instead of $want"
jq -r '.jobs[].jobname' fio.json | grep -q '^sqlite-tpcb-' || fail "the names of the jobs"
expect 2 "$FSREEL" export x.reel --to fio -o x.fio
expect_text 'x.fio exists' "$err"

# Its counts of syncs lack fdatasync, so they are counted from outside.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	rm -rf fs
	mkdir fs
	(cd fs && strace -f -qq -e trace=fsync,fdatasync -o ../syncs \
		fio --output=/dev/null --replay_no_stall=1 ../x.fio/replay.fio)
	for call in fsync fdatasync; do
		same=$(grep -cE " $call\([0-9]+( <unfinished|\))" syncs || true)
		want=$(in_stat ".ops.$call.count // 0")
		[ "$same" = "$want" ] || fail "fio made $same $call instead of $want"
	done
fi

# Names of any bytes, in each format.
cat >names.py <<'END'
import os
for name in (b"new\nline", b'a "b",c', b"\xff\xfe", "gr\u00fc\u00df".encode(), b"back\\slash", b" lead"):
    fd = os.open(b"data/" + name, os.O_CREAT | os.O_RDWR, 0o644)
    os.write(fd, b"x" * 100)
    os.pread(fd, 10, 0)
    os.close(fd)
END
expect 0 "$FSREEL" capture -o n.reel --dir data -- python3 names.py
expect 0 "$FSREEL" export n.reel --to csv -o n.csv
expect 0 "$FSREEL" export n.reel --to perfetto -o n.json
expect 0 "$FSREEL" export n.reel --to sqlite -o n.db
expect 0 "$FSREEL" export n.reel --to fio -o n.fio
python3 - <<'END' || fail "names of any bytes"
import csv, json, sqlite3
want = {"new\nline", 'a "b",c', "\\xff\\xfe", "gr\u00fc\u00df", "back\\\\slash", " lead"}
rows = list(csv.DictReader(open("n.csv", encoding="utf-8", newline="")))
assert all(None not in row and None not in row.values() for row in rows)
got = {row["name"] for row in rows if row["operation"] == "create"}
assert got == want, got
assert {row["file_path"] for row in rows if row["operation"] == "write"} == want
events = json.load(open("n.json", encoding="utf-8"))["traceEvents"]
assert {e["args"]["name"] for e in events if e["name"] == "create"} == want
db = sqlite3.connect("n.db")
got = {row[0] for row in db.execute("SELECT events.name FROM events JOIN ops USING(op) WHERE ops.name = 'create'")}
assert got == {"new\nline", 'a "b",c', b"\xff\xfe", "gr\u00fc\u00df", "back\\slash", " lead"}, got
END
rm -rf fs
mkdir fs
(cd fs && fio --output-format=json --output=../fio.json ../n.fio/replay.fio)
jq -e '.jobs[1].error == 0 and .jobs[1].write.total_ios == 6 and .jobs[1].read.total_ios == 6' fio.json >/dev/null ||
	fail "fio and odd names"

# A torn trace is exported as far as it goes, and said.
head -c $(($(wc -c <x.reel) / 2)) x.reel >torn.reel
expect 1 "$FSREEL" export torn.reel --to csv -o torn.csv
expect_text '^torn: whole up to byte' "$err"
[ ! -e torn.csv.part ] || fail "a partial file is left"

# Neither the trace nor anything else of the user's is overwritten.
cp x.reel own.reel
mkdir own.part
touch own.part/precious
for format in csv perfetto sqlite fio; do
	expect 2 "$FSREEL" export own.reel --to $format -o ./own.reel
	expect_text 'own.reel is the trace to be read' "$err"
	expect 2 "$FSREEL" export own.reel --to $format -o own
	expect_text 'own.part is in the way' "$err"
	expect 2 "$FSREEL" export own.reel --to $format -o ''
	expect_text 'a name is missing' "$err"
done
cmp x.reel own.reel || fail "the trace was overwritten"
[ -e own.part/precious ] || fail "a directory of the user's was removed"
expect 0 "$FSREEL" export own.reel --to fio -o slash.fio/
[ -e slash.fio/replay.fio ] || fail "a slash at the end of the name"
