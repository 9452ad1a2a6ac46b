# Runs in a system of its own with rpm, as root, with two versions of the package in /trial: installs, uses, upgrades and erases it.
set -euo pipefail
say() { printf '  %s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }
files() { find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /trial -o -path /var/lib/rpm -o -path /root/.rpmdb \) -prune -o -print | sort; }
# Debian's rpm warns of itself unless it is told that this is meant.
rpm() { command rpm --force-debian "$@"; }

files >/trial/before
# The program brings its libraries, and Debian's rpm knows of no other packages.
rpm --install --nodeps /trial/pintle-*-1.x86_64.rpm
rpm --verify --nodeps pintle
bash /trial/program-inside.sh /usr/bin/pintle
cp /trial/hello.yaml /etc/pintle/pintle.yaml
rpm --upgrade --nodeps /trial/pintle-*-2.x86_64.rpm
[[ $(rpm --query --queryformat '%{release}' pintle) == 2 ]] || fail "no upgrade"
cmp -s /trial/hello.yaml /etc/pintle/pintle.yaml || fail "the upgrade replaced the configuration"
say "the upgrade keeps the configuration"
rpm --erase pintle
# rpm keeps a changed configuration under another name, and the state of the program is its owner's.
rm -rf /etc/pintle /var/lib/pintle /var/log/pintle
files >/trial/after
diff /trial/before /trial/after || fail "the files above are left"
say "erased"
