# SPDX-License-Identifier: MIT
# Access control lists decide on the mount as they do below, and are inherited.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
requires setfacl --version
mkdir below db
requires setfacl -m u:1:r below

cat >lists.sh <<'EOF'
cd "$1" || exit
user="setpriv --reuid 65534 --regid 65534 --clear-groups"
mkdir d && chmod 700 d && setfacl -m u:65534:rwx d && setfacl -d -m u:65534:rwx,g::r-x,o::- d
echo text >d/roots
$user cat d/roots
$user touch d/users
(umask 077 && $user touch d/private)
getfacl -cp d/roots d/users d/private
stat -c '%n %a %u' d/*
$user sh -c 'echo more >>d/roots' && cat d/roots
setfacl -x u:65534 d && ! $user cat d/roots
EOF
bash lists.sh below >below.txt 2>&1 || fail "$(cat below.txt)"
expect 0 "$FSREEL" capture -o t.reel --dir db -- sh -c 'bash lists.sh db 2>&1'
diff below.txt - <<<"$out" || fail "on the mount it is another result"
