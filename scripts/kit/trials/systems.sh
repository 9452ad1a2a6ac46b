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
    cp "$root"/scripts/kit/trials/*-inside.sh "$folder/trial/"
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
