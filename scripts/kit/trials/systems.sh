# shellcheck shell=bash
# Sourced by scripts/try-packages: systems below one folder each.

# make_system NAME SUITE PACKAGE…: a new one in $work/NAME, with /trial. The archive of a system that was made before is used again.
make_system() {
    local folder=$work/$1 kept=$root/.build/systems/$1.tar suite=$2
    shift 2
    if [[ ! -s $kept ]]; then
        mkdir -p "${kept%/*}"
        mmdebstrap --quiet --variant=minbase --include="$(IFS=,; echo "$*")" "$suite" "$kept.part.tar" http://deb.debian.org/debian >&2
        mv "$kept.part.tar" "$kept"
    fi
    mkdir "$folder"
    tar --extract --directory "$folder" --file "$kept"
    mkdir -p "$folder"/trial
    cp "$root"/scripts/kit/trials/{,*-}inside.sh "$folder/trial/"
    cp "$root/conf/pintle.yaml" "$folder/trial/shipped.yaml"
    cp "$root/scripts/kit/trials/hello.yaml" "$folder/trial/"
}

# inside FOLDER COMMAND…: runs a command in a system, which ends with it.
inside() {
    local folder=$1
    shift
    unshare --mount --pid --fork --kill-child bash -c '
        mount --bind "$0" "$0" && cd "$0" && mount --rbind /dev dev && mount -t proc proc proc && exec chroot . "$@"' "$folder" "$@"
}

# boot FOLDER SCRIPT: boots a system, which runs a script of /trial as a service, and ends with it.
boot() {
    local folder=$1 wanted=$1/etc/systemd/system/multi-user.target.wants
    cat >"$folder/etc/systemd/system/trial.service" <<UNIT
[Service]
Type=oneshot
ExecStart=/bin/bash /trial/$2
StandardOutput=append:/trial/out
StandardError=append:/trial/out
ExecStopPost=/bin/sh -c 'echo \$EXIT_STATUS >/trial/status; systemctl --no-block poweroff'
UNIT
    mkdir -p "$wanted"
    ln -s ../trial.service "$wanted/"
    timeout --signal=KILL 300 systemd-nspawn --quiet --directory "$folder" --private-network --boot --keep-unit --register=no \
        --console=pipe </dev/null >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    cat "$folder/trial/out"
    [[ $(<"$folder/trial/status") == 0 ]]
}
