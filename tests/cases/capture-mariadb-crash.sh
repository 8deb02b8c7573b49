# SPDX-License-Identifier: MIT
# timeout: 300
# MariaDB is killed on the mount in the middle of its work, and recovers there.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
export PATH=$PATH:/usr/sbin
requires command -v mariadbd
requires command -v mariadb-install-db
install -d -o 65534 -g 65534 my
server=$(command -v mariadbd)

cat >crash.sh <<EOS
set -e
cd "\$1"
mkdir tmp
common=(--no-defaults --datadir="\$1/data" --tmpdir="\$1/tmp" --innodb-log-file-size=8M --innodb-buffer-pool-size=8M)
mariadb-install-db "\${common[@]}" --auth-root-authentication-method=normal --skip-test-db >init.out
start()
{
	"$server" "\${common[@]}" --socket="\$1/s" --pid-file="\$1/pid" \\
		--skip-networking --log-error="\$1/log.err" &
	server=\$!
	until ask 'select 1' >/dev/null 2>&1; do
		kill -0 \$server
		sleep 0.1
	done
}
EOS
cat >>crash.sh <<'EOS'
ask()
{
	mariadb --no-defaults -uroot -S s -BNe "$1"
}
start "$1"
ask "create database b; create table b.a (id int primary key, v int) engine=innodb;
	create table b.h (id int auto_increment primary key, d int) engine=innodb;
	insert into b.a values (1, 0), (2, 0), (3, 0)"
while echo "set @i = 1 + floor(rand() * 3); begin; update b.a set v = v + 7 where id = @i;
	insert into b.h (d) values (7); commit;"; do :; done 2>/dev/null |
	mariadb --no-defaults -uroot -S s >client.out 2>&1 &
until [ "$(ask 'select count(*) from b.h')" -gt 100 ]; do
	sleep 0.1
done
kill -9 $server
wait $server || true
start "$1"
ask "select 'sums', (select sum(v) from b.a) = (select sum(d) from b.h),
	(select count(*) > 100 from b.h); check table b.a, b.h extended"
kill $server
wait $server
grep -i 'crash recovery' log.err
EOS
expect 0 "$FSREEL" capture -o t.reel --dir my -- \
	setpriv --reuid 65534 --regid 65534 --clear-groups bash crash.sh "$PWD/my"
expect_text $'sums\t1\t1' "$out"
[ "$(grep -c 'status.OK' <<<"$out")" = 2 ] || fail "the tables are not sound: $out"
expect_text 'crash recovery' "$out"
expect 0 "$FSREEL" check t.reel
expect 0 "$FSREEL" replay -q t.reel --on tmpfs --size 700M
