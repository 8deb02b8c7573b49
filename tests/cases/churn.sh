# SPDX-License-Identifier: MIT
# Everything that programs do to files, at random and many at once, captured and replayed in every
# order and with every engine. One thread replays exactly, on every file system. Of many that race for
# the same names, a call in some thousands may still end otherwise than it did: more is a fault.
. "$TEST_LIB/functions.sh"
requires_fuse

seed=${CHURN_SEED:-7}
on=(--on dir:.)
if [ "$(id -u)" = 0 ]; then
	for type in ext4 xfs btrfs tmpfs; do
		grep -qw $type /proc/filesystems || continue
		command -v mkfs.$type >/dev/null || [ $type = tmpfs ] || continue
		on+=(--on "$type")
	done
fi

few_diverge()
{
	"$FSREEL" replay churn.reel "$@" --verify-state --json >churn.json || [ $? = 1 ] || fail "replay $*"
	grep -q '"failure": *"' churn.json && fail "replay $*: $(grep '"failure"' churn.json)"
	calls=$(sed -n 's/.*"operations": *\([0-9]*\).*/\1/p' churn.json | head -1)
	wrong=$(sed -n 's/.*"divergences": *\([0-9]*\).*/\1/p' churn.json | sort -n | tail -1)
	[ "$calls" -gt 100 ] || fail "no calls in the replay"
	[ "$wrong" -le $((calls / 200)) ] || fail "replay $*: $wrong of $calls diverged: $(grep '"first"' churn.json)"
}

# As many processes as threads, and the calls of each.
for shape in "1 1 2000" "1 4 600" "4 1 600" "2 3 500"; do
	mkdir work
	(cd work && "$FSREEL" capture -q -o ../churn.reel -- "$CHURN" "$seed" $shape) ||
		fail "capture of churn $seed $shape"
	rm -r work
	for engine in lanes ring; do
		few_diverge --on dir:. --engine $engine
		few_diverge --on dir:. --engine $engine --order strict
	done
	if [ "$shape" = "1 1 2000" ]; then
		expect 0 "$FSREEL" replay churn.reel --on dir:. --engine lanes --verify-state
		expect 0 "$FSREEL" replay churn.reel --size 400M "${on[@]}" --verify-state
	fi
	seed=$((seed + 1))
done
few_diverge --size 400M "${on[@]}"
