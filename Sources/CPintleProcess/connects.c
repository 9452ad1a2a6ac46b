// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPintleProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The kernel's tracepoint of changes of TCP's states, by perf_event_open(2): its records come of the processes that are
// watched and of all that they start, whoever becomes their parent. Nothing is changed in them, so they behave as ever.

enum {
    // Pages of a processor's ring, a power of two; a page before them has its head and tail.
    RING_PAGES = 32,
    LONGEST_RECORD = 256,
};

// TCP_SYN_SENT is the state of a socket whose connect(2) was called, TCP_LISTEN that of a server.
static const char FILTER[] = "newstate == 2 || newstate == 10";
enum { SYN_SENT = 2 };

/// The places of the fields in a record of the tracepoint.
typedef struct {
    unsigned id, state, local_port, remote_port, family, local_v4, remote_v4, local_v6, remote_v6;
} tracepoint;

struct pintle_connect_watch {
    tracepoint point;
    size_t page;
    int count;
    int processors;
    struct {
        int event;
        struct perf_event_mmap_page *page;
    } rings[];
};

// MARK: The tracepoint

static ssize_t read_text(int folder, const char *path, char *text, size_t size) {
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    size_t length = 0;
    ssize_t count;
    while (length < size - 1 && (count = read(file, text + length, size - 1 - length)) > 0) length += (size_t)count;
    text[length] = 0;
    close(file);
    return (ssize_t)length;
}

/// Finds a field by a line such as `field:int newstate;	offset:20;	size:4;	signed:1;`.
static int find_field(const char *format, const char *name, unsigned *offset) {
    char word[40];
    snprintf(word, sizeof word, " %s;\toffset:", name);
    const char *place = strstr(format, word);
    if (!place) return -1;
    *offset = (unsigned)strtoul(place + strlen(word), NULL, 10);
    return 0;
}

static int read_tracepoint(int folder, tracepoint *point) {
    char id[32], format[8192];
    if (read_text(folder, "events/sock/inet_sock_set_state/id", id, sizeof id) <= 0) return -1;
    if (read_text(folder, "events/sock/inet_sock_set_state/format", format, sizeof format) <= 0) return -1;
    point->id = (unsigned)strtoul(id, NULL, 10);
    if (find_field(format, "newstate", &point->state) || find_field(format, "sport", &point->local_port)
        || find_field(format, "dport", &point->remote_port) || find_field(format, "family", &point->family)
        || find_field(format, "saddr[4]", &point->local_v4) || find_field(format, "daddr[4]", &point->remote_v4)
        || find_field(format, "saddr_v6[16]", &point->local_v6)
        || find_field(format, "daddr_v6[16]", &point->remote_v6)) {
        errno = EPROTO;
        return -1;
    }
    return 0;
}

// fsopen(2) and what belongs to it, which C libraries before 2.36 do not have.
enum { CREATE = 6, CLOSE_ON_EXEC = 1 };

/// Opens the kernel's file system of tracepoints, which few systems mount for all to see: an instance that is mounted nowhere.
static int open_tracefs(void) {
    int context = (int)syscall(SYS_fsopen, "tracefs", CLOSE_ON_EXEC);
    if (context < 0) return -1;
    int folder = -1;
    if (syscall(SYS_fsconfig, context, CREATE, NULL, NULL, 0) == 0)
        folder = (int)syscall(SYS_fsmount, context, CLOSE_ON_EXEC, 0);
    int code = errno;
    close(context);
    errno = code;
    return folder;
}

static int find_tracepoint(tracepoint *point) {
    int folder = open("/sys/kernel/tracing", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = folder < 0 ? -1 : read_tracepoint(folder, point);
    if (folder >= 0) close(folder);
    if (result == 0) return 0;
    folder = open_tracefs();
    if (folder < 0) return -1;
    result = read_tracepoint(folder, point);
    int code = errno;
    close(folder);
    errno = code;
    return result;
}

// MARK: Rings

static int open_ring(struct pintle_connect_watch *watch, pid_t process, int processor) {
    size_t size = watch->page * RING_PAGES;
    struct perf_event_attr event;
    memset(&event, 0, sizeof event);
    event.type = PERF_TYPE_TRACEPOINT;
    event.size = sizeof event;
    event.config = watch->point.id;
    event.sample_period = 1;
    event.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
    // Processes that these start are watched, too; their names come by the way.
    event.inherit = 1;
    event.task = 1;
    event.comm = 1;
    event.sample_id_all = 1;
    event.use_clockid = 1;
    event.clockid = CLOCK_MONOTONIC;
    event.watermark = 1;
    event.wakeup_watermark = (unsigned)(size / 4);
    int file = (int)syscall(SYS_perf_event_open, &event, process, processor, -1, PERF_FLAG_FD_CLOEXEC);
    if (file < 0) return errno == ENODEV ? 0 : -1;
    void *ring = mmap(NULL, watch->page + size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (ring == MAP_FAILED || ioctl(file, PERF_EVENT_IOC_SET_FILTER, FILTER) != 0) {
        int code = errno;
        if (ring != MAP_FAILED) munmap(ring, watch->page + size);
        close(file);
        errno = code;
        return -1;
    }
    watch->rings[watch->count].event = file;
    watch->rings[watch->count].page = ring;
    watch->count += 1;
    return 0;
}

pintle_connect_watch *pintle_watch_connects(int32_t process) {
    long most = sysconf(_SC_NPROCESSORS_CONF);
    if (most < 1) return NULL;
    pintle_connect_watch *watch = calloc(1, sizeof *watch + (size_t)most * sizeof watch->rings[0]);
    if (!watch) return NULL;
    watch->page = (size_t)sysconf(_SC_PAGESIZE);
    watch->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int result = find_tracepoint(&watch->point);
    for (long processor = 0; result == 0 && processor < most; processor++)
        result = open_ring(watch, process, (int)processor);
    // A processor that is switched on meanwhile has no ring.
    if (result == 0 && watch->count >= watch->processors && watch->count > 0) return watch;
    int code = result == 0 ? ENODEV : errno;
    pintle_end_watch(watch);
    errno = code;
    return NULL;
}

void pintle_end_watch(pintle_connect_watch *watch) {
    for (int i = 0; i < watch->count; i++) {
        munmap(watch->rings[i].page, watch->page * (RING_PAGES + 1));
        close(watch->rings[i].event);
    }
    free(watch);
}

int pintle_misses_processors(const pintle_connect_watch *watch) {
    return sysconf(_SC_NPROCESSORS_ONLN) > watch->count;
}

void pintle_await_sightings(const pintle_connect_watch *watch, int32_t other) {
    struct pollfd places[watch->count + 1];
    for (int i = 0; i < watch->count; i++) places[i] = (struct pollfd){.fd = watch->rings[i].event, .events = POLLIN};
    places[watch->count] = (struct pollfd){.fd = other, .events = POLLIN};
    // A ring whose processes have all ended hangs up, and has to be left out so that the wait is one.
    while (poll(places, (nfds_t)watch->count + 1, -1) >= 0 || errno == EINTR) {
        int is_ready = 0;
        for (int i = 0; i <= watch->count; i++) {
            if (places[i].revents & POLLIN) is_ready = 1;
            if (places[i].revents & (POLLHUP | POLLERR)) places[i].fd = -1;
            places[i].revents = 0;
        }
        if (is_ready) return;
    }
}

// MARK: Records

static uint16_t number(const unsigned char *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/// Reads a record of the kernel's into a sighting: a loss, a task that was forked, named or has ended, or a socket's new state.
/// Returns 0 if it tells of nothing that is watched.
static int sight(const tracepoint *point, const unsigned char *record, size_t size, pintle_sighting *sighting) {
    struct perf_event_header header;
    memcpy(&header, record, sizeof header);
    const unsigned char *body = record + sizeof header;
    uint32_t words[4] = {0};
    if (size < sizeof header + 8) return 0;
    memcpy(words, body, size - sizeof header < sizeof words ? size - sizeof header : sizeof words);
    memset(sighting, 0, sizeof *sighting);
    sighting->process = words[0];
    // Behind the body of what is no sample: process and thread, then the time.
    if (header.type != PERF_RECORD_SAMPLE) memcpy(&sighting->time, record + size - 8, 8);
    switch (header.type) {
    case PERF_RECORD_LOST:
        sighting->kind = PINTLE_SIGHTED_LOSS;
        return 1;
    case PERF_RECORD_FORK:
        // A thread is no process of its own.
        if (words[0] == words[1]) return 0;
        sighting->kind = PINTLE_SIGHTED_FORK;
        sighting->parent = words[1];
        return 1;
    case PERF_RECORD_EXIT:
        if (words[0] != words[2]) return 0;
        sighting->kind = PINTLE_SIGHTED_EXIT;
        return 1;
    case PERF_RECORD_COMM:
        if (words[0] != words[1]) return 0;
        sighting->kind = PINTLE_SIGHTED_NAME;
        strncpy(sighting->name, (const char *)body + 8, sizeof sighting->name - 1);
        return 1;
    case PERF_RECORD_SAMPLE: break;
    default: return 0;
    }
    // Process and thread, the time, and the length of the record of the tracepoint before it.
    const unsigned char *raw = body + 20;
    if (size < sizeof header + 20 + point->remote_v6 + 16) return 0;
    memcpy(&sighting->time, body + 8, 8);
    int32_t state;
    memcpy(&state, raw + point->state, sizeof state);
    int connects = state == SYN_SENT, is_v6 = number(raw + point->family) == AF_INET6;
    sighting->kind = connects ? PINTLE_SIGHTED_CONNECT : PINTLE_SIGHTED_LISTEN;
    sighting->port = number(raw + (connects ? point->remote_port : point->local_port));
    sighting->address_size = is_v6 ? 16 : 4;
    unsigned place = is_v6 ? (connects ? point->remote_v6 : point->local_v6)
                           : (connects ? point->remote_v4 : point->local_v4);
    memcpy(sighting->address, raw + place, sighting->address_size);
    return 1;
}

size_t pintle_take_sightings(pintle_connect_watch *watch, pintle_sighting *space, size_t capacity) {
    size_t taken = 0;
    for (int i = 0; i < watch->count; i++) {
        struct perf_event_mmap_page *page = watch->rings[i].page;
        const unsigned char *data = (const unsigned char *)page + watch->page;
        size_t size = watch->page * RING_PAGES;
        uint64_t tail = page->data_tail, head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
        while (tail < head && taken < capacity) {
            unsigned char record[LONGEST_RECORD];
            struct perf_event_header header;
            // Records are aligned to 8 bytes, so that a header is in one piece; the rest may go round the end.
            memcpy(&header, data + tail % size, sizeof header);
            if (header.size < sizeof header) break;
            if (header.size <= sizeof record) {
                size_t first = size - tail % size;
                if (first > header.size) first = header.size;
                memcpy(record, data + tail % size, first);
                memcpy(record + first, data, header.size - first);
                if (sight(&watch->point, record, header.size, &space[taken])) taken += 1;
            }
            tail += header.size;
        }
        __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    }
    return taken;
}
