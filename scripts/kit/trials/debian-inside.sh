# Runs in a Debian system with two versions of the package: installs, uses, upgrades, removes and purges it. With systemd in charge the
# service is used; otherwise the program alone.
set -euo pipefail
source /trial/inside.sh
export DEBIAN_FRONTEND=noninteractive
isBooted() { [[ -d /run/systemd/system ]]; }

files >/trial/before
dpkg -i /trial/1/*.deb >/dev/null
say "installed; $(pintle version)"
cmp -s /etc/pintle/pintle.yaml /trial/shipped.yaml || fail "the configuration is another than the one that ships"
if [[ -e /etc/apparmor.d/abi/4.0 ]]; then
    [[ -e /etc/apparmor.d/pintle ]] || fail "there is no profile for AppArmor"
    say "AppArmor has its profile"
else
    [[ ! -e /etc/apparmor.d/pintle ]] || fail "AppArmor has a profile that it cannot read"
fi
if isBooted; then
    try_service
    logrotate --state /trial/state --force /etc/logrotate.d/pintle
    # The signal to open the file anew is taken when it comes.
    for _ in {1..1000}; do [[ ! -s /var/log/pintle/exchanges.log ]] || break; ask 127.0.0.1:3128 >/dev/null; done
    [[ -s /var/log/pintle/exchanges.log && -s /var/log/pintle/exchanges.log.1 ]] || fail "the log was not rotated"
    say "the log is rotated"
    upgrade_service dpkg -i /trial/2/*.deb
    systemctl stop pintle.service
    systemctl enable --now --quiet pintle.socket
    [[ $(ask 127.0.0.1:3128) == "$answer" ]] || fail "no answer through the socket of systemd"
    say "serves through the socket of systemd"
else
    cp /trial/hello.yaml /etc/pintle/pintle.yaml
    bash /trial/program-inside.sh pintle
    dpkg -i /trial/2/*.deb >/dev/null
fi
cmp -s /trial/hello.yaml /etc/pintle/pintle.yaml || fail "the upgrade replaced the configuration"
say "the upgrade keeps the configuration"
dpkg -r pintle >/dev/null
if isBooted && systemctl --quiet is-active pintle.service; then fail "the service runs without its package"; fi
[[ -e /etc/pintle/pintle.yaml ]] || fail "removal lost the configuration"
dpkg -P pintle >/dev/null
files >/trial/after
diff /trial/before /trial/after || fail "the purge left the files above"
say "the purge leaves nothing"
