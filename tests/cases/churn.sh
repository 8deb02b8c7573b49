# SPDX-License-Identifier: MIT
# Everything that programs do to files, at random and many at once: captured, it replays without a
# divergence, into the captured state, in every order and with every engine.
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

# As many processes as threads, and the calls of each.
for shape in "1 1 2000" "1 4 600" "4 1 600" "2 3 500"; do
	mkdir work
	(cd work && "$FSREEL" capture -q -o ../churn.reel -- "$CHURN" "$seed" $shape) ||
		fail "capture of churn $seed $shape"
	rm -r work
	for engine in lanes ring; do
		expect 0 "$FSREEL" replay churn.reel --on dir:. --engine $engine --verify-state
		expect 0 "$FSREEL" replay churn.reel --on dir:. --engine $engine --order strict --verify-state
	done
	seed=$((seed + 1))
done
expect 0 "$FSREEL" replay churn.reel --size 400M "${on[@]}" --verify-state
expect 0 "$FSREEL" replay churn.reel --on dir:. --order thread
