# SPDX-License-Identifier: MIT
# timeout: 300
# capture --content=full: the replay writes the very bytes, byte for byte the same files at the end, also
# what was there before, what came in pieces and what went through a mapping. Equal data are stored once.
. "$TEST_LIB/functions.sh"
requires_fuse

mkdir work
head -c 3000000 /dev/urandom >work/before
ln work/before work/again
cat >act.py <<'END'
import mmap, os, sqlite3
os.chdir("work")
noise = os.urandom(5_000_000)
with open("pieces", "wb", buffering=0) as f:  # one call each, several requests
    f.write(noise)
    f.write(noise[:3_000_000])
with open("before", "r+b", buffering=0) as f:
    f.seek(100_000)
    f.write(noise[:8192])
with open("log", "ab", buffering=0) as f:
    for i in range(100):
        f.write(b"line %d\n" % i)
    f.truncate(500)
db = sqlite3.connect("bank.db")
db.execute("pragma journal_mode=wal")
db.execute("create table t(a, b)")
for i in range(50):
    db.execute("insert into t values(?, ?)", (i, os.urandom(100)))
    db.commit()
db.close()
with open("mapped", "w+b") as f:
    f.truncate(10000)
    m = mmap.mmap(f.fileno(), 10000)
    m[5000:5100] = noise[:100]
    m.flush()
os.rename("log", "log.1")
os.posix_fallocate(os.open("holes", os.O_RDWR | os.O_CREAT), 0, 100000)
END
expect 0 "$FSREEL" capture -o full.reel --content=full --dir work -- python3 act.py
expect 0 "$FSREEL" check full.reel
size=$(stat -c %s full.reel)
[ "$size" -gt 8000000 ] || fail "there is more data than $size bytes"
[ "$size" -lt 10500000 ] || fail "equal data are stored twice: $size bytes"
mkdir root
for engine in lanes ring; do
	expect 0 "$FSREEL" replay full.reel --on dir:root --verify-state --engine $engine
done

# The same data under other bytes: it is noticed. A byte of the largest frame is changed in a copy
# whose checksums are made right again.
python3 - full.reel other.reel <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
table = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ 0x82F63B78 if n & 1 else n >> 1
    table.append(n)
def crc32c(b):
    c = 0xFFFFFFFF
    for x in b:
        c = c >> 8 ^ table[(c ^ x) & 255]
    return c ^ 0xFFFFFFFF
at, changed = 16, False
while at < len(data):
    kind, stored = data[at], struct.unpack_from("<I", data, at + 8)[0]
    if kind == 9 and data[at + 16] == 2 and not changed:  # the digests
        data[at + 16 + stored - 1] ^= 1
        struct.pack_into("<I", data, at + 12, crc32c(data[at:at + 12] + data[at + 16:at + 16 + stored]))
        changed = True
    at += 16 + stored
assert changed
open(sys.argv[2], "wb").write(data)
END
expect 1 "$FSREEL" replay other.reel --on dir:root --verify-state
expect_text 'other contents than in the capture' "$out"

# Without the option nothing is stored; a slice carries no data over, and says so.
expect 0 "$FSREEL" slice full.reel -o part.reel
expect_text 'stored data are not carried over' "$err"
[ "$(stat -c %s part.reel)" -lt 100000 ] || fail "the slice has data"
mkdir empty
expect 0 "$FSREEL" replay part.reel --on dir:empty --verify-state
expect 2 "$FSREEL" capture -o x.reel --content=full --anonymize --dir work -- true
expect_text 'excludes --content=full' "$err"
expect 2 "$FSREEL" capture -o x.reel --content=some --dir work -- true
