# SPDX-License-Identifier: MIT
# The trace has as many calls of each kind as the program made (by strace).
. "$TEST_LIB/functions.sh"
requires_fuse
requires "$FSREEL" stat --help
requires strace -f true
requires python3 -c 'import sqlite3'
mkdir below db

cat >bank.py <<'EOF'
import os, sqlite3, sys
os.chdir(sys.argv[1])
for mode in ("delete", "wal"):
    db = sqlite3.connect(mode + ".db", isolation_level=None)
    db.execute("pragma journal_mode=" + mode)
    db.execute("pragma synchronous=full")
    db.execute("create table t(k integer primary key, v)")
    for i in range(50):
        db.execute("insert into t values(?, ?)", (i, "x" * 300 * (i % 5)))
    db.close()
with open("data", "wb") as file:
    file.write(b"y" * 5000000)
    os.fsync(file.fileno())
os.rename("data", "moved")
os.unlink("moved")
EOF

calls='write,pwrite64,fsync,fdatasync,unlink,rename,ftruncate'
strace -f -y -e "trace=$calls" -o calls python3 bank.py below
expect 0 "$FSREEL" capture -o t.reel --dir db -- python3 bank.py db
expect 0 "$FSREEL" stat --json t.reel
python3 - "$PWD/below/" "$out" <<'EOF'
import collections, json, re, sys
made = collections.Counter()
for line in open("calls"):
    call = re.match(r"\d+ +(\w+)\((.*)", line)
    if call and (sys.argv[1] in call[2] or call[1] in ("unlink", "rename")):
        if " = -1 " not in line:
            made[{"pwrite64": "write", "ftruncate": "truncate"}.get(call[1], call[1])] += 1
logged = json.loads(sys.argv[2])["ops"]
bad = {op: (count, logged.get(op, {}).get("count"))
       for op, count in made.items() if logged.get(op, {}).get("count") != count}
sys.exit(f"made and logged differ: {bad}" if bad else 0)
EOF
