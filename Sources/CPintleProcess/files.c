// SPDX-License-Identifier: Apache-2.0
// Unix sockets have paths, and no namespace of networks confines them: who may write to the file may connect. So the command
// has mounts of its own. A socket at one place is covered by a file that is none. A folder of services, such as /run, is laid
// out anew: its folders are overlays, whose sockets are others than those below, so that also servers that start later are out of
// reach.
//
// Mounts are undone by CAP_SYS_ADMIN alone, which the command gives up; in further namespaces, where it has that again, the
// kernel locks them (mount_namespaces(7)).
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// MARK: Texts

typedef struct {
    char bytes[192];
    size_t length;
} text;

static void add(text *text, const char *more) {
    size_t length = strlen(more), space = sizeof text->bytes - 1 - text->length;
    if (length > space) length = space;
    memcpy(text->bytes + text->length, more, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

static void add_number(text *text, unsigned number) {
    char digits[12];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    add(text, digits + at);
}

/// Adds a path of the file behind a descriptor, which leads there also after its place was mounted over.
static void add_descriptor(text *text, int descriptor) {
    add(text, "/proc/self/fd/");
    add_number(text, (unsigned)descriptor);
}

// MARK: Places

/// Returns 0 with errno as it was if there is something at a path that this process can reach; else 1: the command cannot, either.
static int is_out_of_reach(const char *path) {
    struct stat status;
    int code = errno, found = lstat(path, &status);
    errno = code;
    return found != 0;
}

/// Opens a file or folder that will be mounted at another place, before it is mounted over.
static int open_place(pintle_place *place) {
    place->descriptor = -1;
    if (place->kind != PINTLE_PLACE_NEW && place->kind != PINTLE_PLACE_FOLDER && place->kind != PINTLE_PLACE_LAYER
        && place->kind != PINTLE_PLACE_KEPT && place->kind != PINTLE_PLACE_COPY)
        return 0;
    if (place->kind == PINTLE_PLACE_COPY) {
        place->descriptor = open(place->target, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        return place->descriptor < 0 ? -1 : 0;
    }
    place->descriptor = open(place->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return place->descriptor < 0 && !is_out_of_reach(place->path) ? -1 : 0;
}

/// Gives a new folder the owner and the mode of the one that it stands for. A user cannot give it another owner.
static int make_alike(int folder, const char *path, const struct stat *original) {
    if (fchownat(folder, path, original->st_uid, original->st_gid, AT_SYMLINK_NOFOLLOW) != 0 && errno != EPERM
        && errno != EINVAL)
        return -1;
    return fchmodat(folder, path, original->st_mode & 07777, 0);
}

static int add_folder(const char *path, const struct stat *original) {
    return mkdir(path, 0700) != 0 || make_alike(AT_FDCWD, path, original) != 0 ? -1 : 0;
}

static int mount_memory(const char *path) {
    return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700");
}

/// Replaces a folder. Below its new content is a second one, out of reach, for what is written into layers.
static int replace(const pintle_place *place, const struct stat *original, int *stage) {
    if (mount_memory(place->path) != 0) return -1;
    if (*stage >= 0) close(*stage);
    *stage = open(place->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*stage < 0 || mount_memory(place->path) != 0) return -1;
    return make_alike(AT_FDCWD, place->path, original);
}

/// Mounts a file or folder at another place. One that was removed since it was opened is left out.
static int bind(int descriptor, const char *path) {
    text source = {.length = 0};
    add_descriptor(&source, descriptor);
    return mount(source.bytes, path, NULL, MS_BIND | MS_REC, NULL) != 0 && errno != ENOENT ? -1 : 0;
}

/// Lays an overlay over a folder: reads go to the folder, and writes into memory.
static int lay(const pintle_place *place, unsigned number, const struct stat *original, int stage) {
    text name = {.length = 0}, upper, work, options = {.length = 0};
    add_number(&name, number);
    upper = work = name;
    add(&upper, "u");
    add(&work, "w");
    if (mkdirat(stage, upper.bytes, 0700) != 0 || mkdirat(stage, work.bytes, 0700) != 0) return -1;
    if (make_alike(stage, upper.bytes, original) != 0) return -1;
    add(&options, "lowerdir=");
    add_descriptor(&options, place->descriptor);
    add(&options, ",upperdir=");
    add_descriptor(&options, stage);
    add(&options, "/");
    add(&options, upper.bytes);
    add(&options, ",workdir=");
    add_descriptor(&options, stage);
    add(&options, "/");
    add(&options, work.bytes);
    size_t length = options.length;
    add(&options, ",userxattr");
    if (mount("overlay", place->path, "overlay", MS_NOSUID | MS_NODEV, options.bytes) == 0) return 0;
    // Kernels before 5.11 do not know the last option, and let nobody but root do this.
    options.bytes[length] = 0;
    return mount("overlay", place->path, "overlay", MS_NOSUID | MS_NODEV, options.bytes);
}

/// Lays a folder, or shows it as it is if the kernel cannot do that; then its sockets are covered one by one.
static int add_layer(pintle_place *place, unsigned number, const struct stat *original, int stage) {
    if (mkdir(place->path, 0700) != 0) return -1;
    if (lay(place, number, original, stage) == 0) {
        place->is_laid = 1;
        return 0;
    }
    return bind(place->descriptor, place->path);
}

static int keep(const pintle_place *place, const struct stat *original) {
    int code = S_ISDIR(original->st_mode) ? mkdir(place->path, 0700) : mknod(place->path, S_IFREG | 0600, 0);
    return code != 0 && errno != EEXIST ? -1 : bind(place->descriptor, place->path);
}

/// Connections to a file that is no socket are refused, as those to a socket whose server is gone.
static int cover(const char *path) {
    return mount("/dev/null", path, NULL, MS_BIND, NULL) != 0 && !is_out_of_reach(path) ? -1 : 0;
}

static int arrange(const pintle_child *child, int index, int *stage) {
    pintle_place *place = &child->places[index];
    int is_in_layer = place->layer >= 0 && child->places[place->layer].is_laid;
    if (place->kind == PINTLE_PLACE_PROCESSES) return 0;
    if (place->kind == PINTLE_PLACE_SOCKET) return is_in_layer ? 0 : cover(place->path);
    // Its folder may be out of reach.
    if (place->kind == PINTLE_PLACE_LINK) return symlink(place->target, place->path) != 0 && errno != ENOENT ? -1 : 0;
    struct stat original;
    if (place->descriptor < 0 || (place->layer >= 0 && !is_in_layer)) return 0;
    // Mounts of other users may be closed even to root (fuse(4)). They are not shown.
    if (fstat(place->descriptor, &original) != 0) return place->kind == PINTLE_PLACE_NEW ? -1 : 0;
    switch (place->kind) {
    case PINTLE_PLACE_NEW: return replace(place, &original, stage);
    case PINTLE_PLACE_FOLDER: return add_folder(place->path, &original);
    case PINTLE_PLACE_COPY: return bind(place->descriptor, place->path);
    case PINTLE_PLACE_LAYER: return add_layer(place, (unsigned)index, &original, *stage);
    default: return keep(place, &original);
    }
}

// MARK: All places

static int arrange_all(const pintle_child *child, int32_t *place, uint32_t *flags) {
    int stage = -1, are_laid = 1;
    *place = -1;
    // Mounts of the machine are seen here, and not the other way round.
    if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) != 0) return -1;
    for (int index = 0; index < child->place_count; index++) {
        *place = index;
        if (open_place(&child->places[index]) != 0) return -1;
    }
    for (int index = 0; index < child->place_count; index++) {
        *place = index;
        if (arrange(child, index, &stage) != 0) return -1;
        are_laid &= child->places[index].kind != PINTLE_PLACE_LAYER || child->places[index].descriptor < 0
            || child->places[index].is_laid;
    }
    *place = -1;
    if (stage >= 0) close(stage);
    for (int index = 0; index < child->place_count; index++) {
        if (child->places[index].descriptor >= 0) close(child->places[index].descriptor);
    }
    if (are_laid) *flags |= PINTLE_NETWORK_LAYERS;
    return 0;
}

int pintle_arrange_files(const pintle_child *child, int32_t *place, uint32_t *flags) {
    // Each place has a descriptor, and the soft limit of most systems is low only for programs that use select(2), as the command may.
    struct rlimit own;
    if (getrlimit(RLIMIT_NOFILE, &own) != 0) return -1;
    struct rlimit most = {.rlim_cur = own.rlim_max, .rlim_max = own.rlim_max};
    // The kernel sets no limit above fs.nr_open, also if the process has it already. Mostly the soft one is enough, too.
    int is_raised = setrlimit(RLIMIT_NOFILE, &most) == 0;
    if (arrange_all(child, place, flags) != 0) return -1;
    if (is_raised && setrlimit(RLIMIT_NOFILE, &own) != 0) return -1;
    // The working directory is still the one below.
    return child->folder ? chdir(child->folder) : 0;
}

int pintle_arrange_processes(const pintle_child *child, int32_t *place) {
    for (int index = 0; index < child->place_count; index++) {
        *place = index;
        if (child->places[index].kind != PINTLE_PLACE_PROCESSES) continue;
        if (mount("proc", child->places[index].path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0
            && !is_out_of_reach(child->places[index].path))
            return -1;
    }
    *place = -1;
    return 0;
}
