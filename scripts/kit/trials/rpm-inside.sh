# Runs in a system with rpm and systemd, with two versions of the package: installs, uses, upgrades and erases it.
set -euo pipefail
source /trial/inside.sh
# Debian's rpm warns of itself unless it is told that this is meant, and knows of no other packages.
rpm() { command rpm --force-debian "$@"; }

files >/trial/before
rpm --install --nodeps /trial/pintle-*-1.x86_64.rpm
say "installed; $(pintle version)"
rpm --verify --nodeps pintle
try_service
upgrade_service rpm --upgrade --nodeps /trial/pintle-*-2.x86_64.rpm
cmp -s /trial/hello.yaml /etc/pintle/pintle.yaml || fail "the upgrade replaced the configuration"
say "the upgrade keeps the configuration"
rpm --erase pintle
if systemctl --quiet is-active pintle.service; then fail "the service runs without its package"; fi
# rpm keeps a changed configuration under another name, and the state of the service is its owner's.
rm -rf /etc/pintle /var/lib/pintle /var/lib/private/pintle /var/log/pintle /var/log/private/pintle
files >/trial/after
diff /trial/before /trial/after || fail "the files above are left"
say "nothing else is left"
