# SPDX-License-Identifier: MIT
# The class of data is near what zstd makes of the same data: pages of SQLite and PostgreSQL, text,
# programs, random bytes and zeros.
. "$TEST_LIB/functions.sh"

head -c 1M /dev/urandom >random
head -c 1M /dev/zero >zeros
head -c 1M < <(cat "$TEST_LIB"/../../*/*.c) >text
python3 - <<'END'
import random, sqlite3
random.seed(1)
db = sqlite3.connect("pages.db")
db.execute("create table a(id integer primary key, b int, balance int, filler text)")
for i in range(20000):
    db.execute("insert into a values(?,?,?,?)", (i, i % 10, random.randint(-5000, 5000), "x" * 84))
db.execute("create table words(t text)")
for i in range(5000):
    db.execute("insert into words values(?)", ("".join(random.choices("abcdefghij klmnop", k=90)),))
db.execute("create table noise(b blob)")
for i in range(500):
    db.execute("insert into noise values(?)", (random.randbytes(900),))
db.commit()
END
files=(random zeros text pages.db "$FSREEL" "$(command -v python3)")
initdb=$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | head -1) || true
if [ -n "$initdb" ] && [ "$(id -u)" = 0 ] && id postgres >/dev/null 2>&1; then
	chmod 755 .
	install -d -o postgres pg
	(cd pg && runuser -u postgres -- "$initdb" -D "$PWD/data" -A trust >/dev/null 2>&1)
	mapfile -t -O "${#files[@]}" files < <(find pg/data/base pg/data/pg_wal -type f -size +100k)
fi
expect 0 "$BENCH_CONTENT" "${files[@]}"
echo "$out"
expect_text '^random .* classes say 8.00 of 8, zstd 8.00' "$out"
expect_text '^zeros .* classes say 0.00 of 8' "$out"
