# shellcheck shell=bash
# Sourced by the trials that run in a system of their own, as root, with what they need in /trial.

export LC_ALL=C.UTF-8
answer='{"hello":"world"}'
say() { printf '  %s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }

# Asks for what /trial/hello.yaml answers, by the proxy at ADDR:PORT.
ask() { curl --fail --silent --show-error --max-time 20 --proxy "$1" http://hello.test/; }

# Every path of the system, but those that change by themselves.
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /trial -o -path /var/log/journal \
        -o -path /var/lib/dpkg/lock\* -o -path /var/lib/dpkg/\*-old -o -path /var/lib/rpm -o -path /root/.rpmdb \
        -o -path /var/lib/systemd/timers -o -path /var/cache/ldconfig -o -path /var/log/dpkg.log \) -prune -o -print | sort
}

main_process() { systemctl show --property=MainPID --value pintle.service; }

# Fails if the service is enabled by its package; then enables it, with /trial/hello.yaml as its configuration, and asks.
try_service() {
    [[ $(systemctl is-enabled pintle.service || true) == disabled ]] || fail "the service is enabled without a word of the owner"
    cp /trial/hello.yaml /etc/pintle/pintle.yaml
    systemctl enable --now --quiet pintle.service
    [[ $(ask 127.0.0.1:3128) == "$answer" ]] || fail "no answer through the service"
    say "serves as user $(ps -o user= -p "$(main_process)")"
    systemctl reload pintle.service
}

# upgrade_service COMMAND…: upgrades the package; fails if the old version still runs.
upgrade_service() {
    local before
    before=$(main_process)
    "$@" >/dev/null
    [[ $(main_process) != "$before" ]] || fail "the service still runs the old version"
    [[ $(ask 127.0.0.1:3128) == "$answer" ]] || fail "no answer after the upgrade"
    say "serves after the upgrade"
}
