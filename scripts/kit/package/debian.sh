# shellcheck shell=bash
# Sourced by scripts/package.

# make_debian_package WORK OUT
make_debian_package() {
    local folder=$1/pintle
    mkdir -p "$folder"
    cp -r "$root"/{README.md,CHANGELOG.md,conf,docs,packaging} "$work/manual" "$program" "$folder/"
    mv "$folder/packaging/debian" "$folder/debian"
    cp "$root"/conf/systemd/pintle.{service,socket} "$folder/debian/"
    cp "$root/packaging/logrotate/pintle" "$folder/debian/pintle.logrotate"
    cat >"$folder/debian/changelog" <<CHANGELOG
pintle ($version-$revision) unstable; urgency=medium

  * Pintle $version. CHANGELOG.md has the changes.

 -- $(sed -n 's/^Maintainer: //p' "$folder/debian/control")  $(date --utc --date="@$SOURCE_DATE_EPOCH" --rfc-email)
CHANGELOG
    (cd "$folder" && dpkg-buildpackage --build=binary --unsigned-changes --unsigned-buildinfo) >"$1/log" 2>&1 || {
        cat "$1/log" >&2
        exit 1
    }
    lintian --allow-root --fail-on error,warning "$1"/*.changes >&2
    cp "$1"/*.deb "$2/"
}
