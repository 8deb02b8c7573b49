# SPDX-License-Identifier: MIT
# timeout: 300
# More files than descriptors: 30,000 known to the kernel at once, with 1,000 descriptors.
. "$TEST_LIB/functions.sh"
requires_fuse
requires python3 -c ''
mkdir db

cat >many.py <<'EOF'
import os, sys
FILES = 30000
os.chdir(sys.argv[1])
for i in range(FILES):
    os.close(os.open(f"f{i}", os.O_CREAT | os.O_WRONLY))
for i in range(0, FILES, 3):
    os.rename(f"f{i}", f"g{i}")
for i in range(FILES):
    name = f"g{i}" if i % 3 == 0 else f"f{i}"
    os.stat(name)
    with open(name, "w") as file:
        file.write(str(i))
for i in range(FILES):
    name = f"g{i}" if i % 3 == 0 else f"f{i}"
    assert open(name).read() == str(i)
    os.unlink(name)
assert not os.listdir(".")
EOF

ulimit -n 1000
expect 0 "$FSREEL" capture -o t.reel --dir db -- python3 many.py db
