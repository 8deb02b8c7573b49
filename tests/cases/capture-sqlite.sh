# SPDX-License-Identifier: MIT
# timeout: 300
# Four processes write one SQLite database on the mount; it stays sound, whatever its journal.
. "$TEST_LIB/functions.sh"
requires_fuse
requires python3 -c 'import sqlite3'

cat >clients.py <<'EOF'
import os, sqlite3, sys
path, setup = sys.argv[1], sys.argv[2:]
CLIENTS, ROUNDS = 4, 60

def connect():
    db = sqlite3.connect(path, isolation_level=None, timeout=60)
    for pragma in setup:
        db.execute("pragma " + pragma)
    return db

def client(me):
    db = connect()
    for i in range(ROUNDS):
        db.execute("begin immediate")
        (count,) = db.execute("select n from total").fetchone()
        db.execute("update total set n = ?", (count + 1,))
        db.execute("insert into entry values(?, ?, ?)", (me, i, os.urandom(500)))
        db.execute("commit")

db = connect()
mode = db.execute("pragma journal_mode").fetchone()[0]
db.execute("create table total(n)")
db.execute("insert into total values(0)")
db.execute("create table entry(client, i, data)")
db.close()
pids = []
for me in range(CLIENTS):
    pid = os.fork()
    if not pid:
        client(me)
        os._exit(0)
    pids.append(pid)
assert all(os.waitpid(pid, 0)[1] == 0 for pid in pids), "a client failed"
db = connect()
total = db.execute("select n from total").fetchone()[0]
rows = db.execute("select count(*) from entry").fetchone()[0]
assert total == rows == CLIENTS * ROUNDS, (total, rows)
assert db.execute("pragma integrity_check").fetchone()[0] == "ok"
print(mode)
EOF

# sound MODE PRAGMA...: the mode it must really run in
sound()
{
	rm -rf db t.reel
	mkdir db
	expect 0 "$FSREEL" capture -o t.reel --dir db -- python3 clients.py db/bank "${@:2}"
	[ "$out" = "$1" ] || fail "journal mode '$out' instead of '$1'"
	expect 0 python3 -c 'import sqlite3
print(sqlite3.connect("db/bank").execute("pragma integrity_check").fetchone()[0])'
	[ "$out" = ok ] || fail "$out"
}

sound wal journal_mode=wal synchronous=normal
sound wal journal_mode=wal synchronous=off mmap_size=268435456
sound delete journal_mode=delete synchronous=normal
sound persist journal_mode=persist synchronous=off mmap_size=268435456
