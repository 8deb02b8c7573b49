# SPDX-License-Identifier: MIT
# The trace has as many calls of each kind as the program made (by strace), however the kernel cuts
# them, and next to nothing that it asks by itself.
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
with open("data", "r+b", buffering=0) as file:
    for i in range(2000):
        os.pwrite(file.fileno(), b"z" * 4096, i * 4096)
    for odd in range(0, 5000, 1111):
        os.pwrite(file.fileno(), memoryview(b"a" * 9000000)[odd:], odd)
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
if bad:
    sys.exit(f"made and logged differ: {bad}")
asked = logged.get("getxattr", {}).get("count", 0)
if asked > sum(made.values()) // 100:
    sys.exit(f"{asked} attributes were asked for, and nobody wanted to know")
EOF
