# Serves with the program that the argument names, and runs commands by it.
set -euo pipefail
source /trial/inside.sh
pintle=$1

say "$("$pintle" version), on $(ldd --version | sed -n 's/^ldd .* \([0-9.]*\)$/glibc \1/p')"
mkdir -p /var/log/pintle
XDG_STATE_HOME=/var/lib "$pintle" serve -c /trial/hello.yaml --listen 127.0.0.1:0 --port-file /trial/port 2>/trial/log &
served=$!
until [[ -s /trial/port ]]; do kill -0 $served 2>/dev/null || { cat /trial/log; fail "it does not serve"; }; done
[[ $(ask "127.0.0.1:$(</trial/port)") == "$answer" ]] || fail "no answer through the proxy"
kill -TERM $served
wait $served || fail "it did not end well"
say "serves"
for isolate in "" --isolate; do
    found=$("$pintle" run -c /trial/hello.yaml $isolate -- curl --fail --silent --show-error http://hello.test/ 2>/trial/log) || {
        cat /trial/log
        fail "the command did not succeed (${isolate:-without --isolate})"
    }
    [[ $found == "$answer" ]] || fail "no answer for the command (${isolate:-without --isolate})"
done
say "runs commands, isolated ones too"
