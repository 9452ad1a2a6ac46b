# shellcheck shell=bash
# Sourced by scripts/try-packages: a function for each trial.

# Another path, user, time, time zone, locale and umask. The clone has the commit alone, as a build machine has.
try_reproducible() {
    local other=$work/other/a/longer/path user=54321
    mkdir -p "${other%/*}"
    git clone --quiet --no-hardlinks "$root" "$other"
    cp "$root/Package.resolved" "$other/"
    cp "$PINTLE" "$work/other/pintle"
    [[ ! -e $PINTLE.debug ]] || cp "$PINTLE.debug" "$work/other/"
    chmod 755 "$work"
    chown -R "$user:$user" "$work/other"
    (
        umask 077
        cd "$other"
        env -i PATH="$PATH" HOME="$work/other" TZ=Asia/Kathmandu LC_ALL=de_DE.UTF-8 LANGUAGE=de PINTLE="$work/other/pintle" \
            setpriv --reuid="$user" --regid="$user" --clear-groups \
            faketime -f +400d scripts/package "$work/other/packages" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
    )
    diff "$packages/1/SHA256SUMS" "$work/other/packages/SHA256SUMS"
}

# debian_system NAME SUITE PACKAGE…: makes a system with the dependencies of the Debian package, and leaves two versions in /trial.
debian_system() {
    local folder=$work/$1 revision
    make_system "$@"
    for revision in 1 2; do
        mkdir "$folder/trial/$revision"
        cp "$packages/$revision"/*.deb "$folder/trial/$revision/"
    done
    cp -L /etc/resolv.conf "$folder/etc/"
    inside "$folder" apt-get -qq update
    inside "$folder" env DEBIAN_FRONTEND=noninteractive apt-get -qq --no-install-recommends satisfy -y \
        "$(dpkg-deb -f "$folder"/trial/1/*.deb Depends)" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

try_bookworm() {
    debian_system bookworm bookworm ca-certificates curl
    inside "$work/bookworm" bash /trial/debian-inside.sh
}

try_trixie() {
    debian_system trixie trixie ca-certificates curl apparmor
    inside "$work/trixie" bash /trial/debian-inside.sh
}

try_systemd() {
    debian_system systemd bookworm ca-certificates curl systemd systemd-sysv dbus logrotate apparmor procps
    boot "$work/systemd" debian-inside.sh
}

try_bullseye() {
    local folder=$work/bullseye
    make_system bullseye bullseye ca-certificates curl
    tar --extract --directory "$folder/trial" --strip-components=1 --file "$packages"/1/*.tar.gz
    inside "$folder" bash /trial/program-inside.sh /trial/bin/pintle
}

try_rpm() {
    local folder=$work/rpm
    make_system rpm bookworm ca-certificates curl rpm systemd systemd-sysv dbus procps
    cp "$packages"/[12]/*.rpm "$folder/trial/"
    boot "$folder" rpm-inside.sh
}

# Debian has no apk: the files are unpacked as apk would, into a system of BusyBox alone.
try_apk() {
    local folder=$work/apk tool
    mkdir -p "$folder"/{bin,dev,proc,tmp,trial,var/log/pintle}
    cp "$(command -v busybox)" "$folder/bin/"
    for tool in cat env grep mkdir readlink sh sleep wget; do ln -s busybox "$folder/bin/$tool"; done
    tar --extract --warning=no-unknown-keyword --directory "$folder" --file "$packages"/1/*.apk
    grep -qx 'pkgver = .*-r1' "$folder/.PKGINFO"
    cp "$root/scripts/kit/trials/hello.yaml" "$folder/trial/"
    [[ $(inside "$folder" pintle run -c /trial/hello.yaml -- wget -q -O - http://hello.test/ 2>"$work/log") == '{"hello":"world"}' ]] || {
        cat "$work/log" >&2
        exit 1
    }
    printf '  runs without glibc; %s\n' "$(inside "$folder" pintle version)"
}

try_image() {
    local image=("$packages"/1/*.oci.tar) bundle=$work/bundle state=$work/state version answer
    version=$(skopeo inspect --format '{{index .Labels "org.opencontainers.image.version"}}' "oci-archive:${image[0]}")
    printf '  skopeo reads the image of version %s\n' "$version"
    mkdir "$work/layout" "$state"
    tar --extract --directory "$work/layout" --file "${image[0]}"
    umoci unpack --image "$work/layout:${version%-*}" "$bundle" 2>"$work/log"
    if find "$bundle/rootfs" -name '*sh' -type f -perm /111 | grep .; then echo "  the image has a shell"; exit 1; fi
    chown 65532 "$state"
    cp "$root/scripts/kit/trials/hello.yaml" "$state/"
    sed -i 's,/var/log/pintle/,/var/lib/pintle/,' "$state/hello.yaml"
    python3 - "$bundle/config.json" "$state" <<'PYTHON'
import json, sys
path, state = sys.argv[1:]
with open(path) as file:
    config = json.load(file)
config["process"].update(
    terminal=False, capabilities={},
    args=[config["process"]["args"][0], "serve", "-c", "/var/lib/pintle/hello.yaml", "--listen", "127.0.0.1:0",
          "--port-file", "/var/lib/pintle/port"])
config["root"]["readonly"] = True
config["linux"]["namespaces"] = [one for one in config["linux"]["namespaces"] if one["type"] != "network"]
config["mounts"].append({"destination": "/var/lib/pintle", "type": "bind", "source": state, "options": ["bind", "rw"]})
with open(path, "w") as file:
    json.dump(config, file)
PYTHON
    runc run --bundle "$bundle" "pintle-$$" </dev/null >"$work/log" 2>&1 &
    local runner=$!
    until [[ -s $state/port ]]; do kill -0 $runner 2>/dev/null || { cat "$work/log" >&2; exit 1; }; done
    answer=$(curl --fail --silent --show-error --proxy "127.0.0.1:$(<"$state/port")" http://hello.test/) || answer=
    printf '  %s\n' "$(runc exec "pintle-$$" /usr/bin/pintle status)"
    runc kill "pintle-$$" TERM
    wait $runner
    [[ $answer == '{"hello":"world"}' ]]
}
