# Runs in a Debian system of its own, as root, with two versions of the package in /trial: installs, uses, upgrades, removes and
# purges it. With systemd in charge the service is used; otherwise the program alone.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
say() { printf '  %s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }

# Every path of the system, but those that change by themselves.
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /trial -o -path /var/log/journal \
        -o -path /var/lib/dpkg/lock\* -o -path /var/lib/dpkg/\*-old -o -path /var/lib/systemd/timers -o -path /var/cache/ldconfig \
        -o -path /var/log/dpkg.log \) -prune -o -print | sort
}
ask() { curl --fail --silent --show-error --max-time 20 --proxy "$1" http://hello.test/; }
isBooted() { [[ -d /run/systemd/system ]]; }
answer='{"hello":"world"}'
files >/trial/before
dpkg -i /trial/1/*.deb >/dev/null
[[ $(pintle --version) == "pintle "* ]] || fail "the program does not start"
say "installed; $(pintle version)"
cmp -s /etc/pintle/pintle.yaml /trial/shipped.yaml || fail "the configuration is another than the one that ships"
if [[ -e /etc/apparmor.d/abi/4.0 ]]; then
    [[ -e /etc/apparmor.d/pintle ]] || fail "there is no profile for AppArmor"
    say "AppArmor has its profile"
else
    [[ ! -e /etc/apparmor.d/pintle ]] || fail "AppArmor has a profile that it cannot read"
fi
if isBooted; then
    [[ $(systemctl is-enabled pintle.service || true) == disabled ]] || fail "the service is enabled without a word of the owner"
    cp /trial/hello.yaml /etc/pintle/pintle.yaml
    systemctl enable --now --quiet pintle.service
    [[ $(ask 127.0.0.1:3128) == "$answer" ]] || fail "no answer through the service"
    say "serves as $(ps -o user= -p "$(systemctl show -P MainPID pintle)"), and systemd rates its exposure $(systemd-analyze security --no-pager pintle | sed -n 's/.*: \([0-9.]* [A-Z]*\).*/\1/p')"
    logrotate --state /trial/state --force /etc/logrotate.d/pintle
    for _ in {1..1000}; do [[ ! -s /var/log/pintle/exchanges.log ]] || break; ask 127.0.0.1:3128 >/dev/null; done
    [[ -s /var/log/pintle/exchanges.log && -s /var/log/pintle/exchanges.log.1 ]] || fail "the log was not rotated"
    say "the log is rotated"
    systemctl reload pintle.service
    before=$(systemctl show -P MainPID pintle)
    dpkg -i /trial/2/*.deb >/dev/null
    [[ $(systemctl show -P MainPID pintle) != "$before" ]] || fail "the service still runs the old version"
    [[ $(ask 127.0.0.1:3128) == "$answer" ]] || fail "no answer after the upgrade"
    systemctl stop pintle.service
    systemctl enable --now --quiet pintle.socket
    [[ $(ask 127.0.0.1:3128) == "$answer" ]] || fail "no answer through the socket of systemd"
    say "serves after the upgrade, and through the socket of systemd"
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
