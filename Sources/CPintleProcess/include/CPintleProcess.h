// SPDX-License-Identifier: Apache-2.0
// Starting a child as a shell would. No system header but <stddef.h> and <stdint.h> is included here: what this module declared of theirs
// would be missing from the Glibc module.
#ifndef C_PINTLE_PROCESS_H
#define C_PINTLE_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/// Signals that the process was started with, as bits: number n is bit n - 1. Taken before main, since libdispatch changes
/// the mask of the main thread and the engine ignores SIGPIPE.
uint64_t pintle_inherited_ignored_signals(void);
uint64_t pintle_inherited_blocked_signals(void);

/// The environment of this process, as environ(7) has it.
char **pintle_environment(void);

/// Names the calling thread; at most 15 bytes.
void pintle_name_this_thread(const char *name);

/// Writes a line to standard error when SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS or SIGFPE ends this process. Handlers that
/// are there already, such as that of Swift's backtraces, then run as before.
void pintle_tell_of_fatal_signals(void);

/// One signal that came, as it is written into the pipe.
typedef struct {
    int32_t number;
    /// 1 where a process sent it, 0 where it came of the kernel: of a key at the terminal, or of a child.
    int32_t is_sent;
} pintle_signal;

/// Has the signals of a set written into a non-blocking pipe instead of what they do; those that were ignored when the
/// process was started stay so. The pipe stays open for the process's life.
void pintle_catch_signals(uint64_t signals, int pipe);
/// Sends a signal to this process with its default effect, for example the end or a stop. Returns after a stop and its
/// SIGCONT, or at once: SIGTSTP, SIGTTIN and SIGTTOU do not stop a process group without a shell that controls it. The SIGCONT
/// that ends the stop is not written into the pipe.
void pintle_raise_default(int signal);

/// 1 if this process becomes the parent of processes that theirs have left: process 1 of its namespace, or a subreaper
/// (prctl(2)); else 0.
int pintle_adopts_orphans(void);

/// The content of a place in the file system of a child in a network of its own.
typedef enum {
    /// A socket that cannot be connected to (ECONNREFUSED), as one whose server has ended, or a file that is empty. A socket in a
    /// layer is like that anyway.
    PINTLE_PLACE_SOCKET = 1,
    /// A folder that is empty at first. The places in it follow it.
    PINTLE_PLACE_NEW,
    /// A folder in a new one, which is empty at first, too.
    PINTLE_PLACE_FOLDER,
    /// A folder in a new one, without mounts in it. Its files can be read, and those that the child writes stay with the child. None of
    /// its sockets can be connected to, also of those that are bound later, but for the child's own.
    PINTLE_PLACE_LAYER,
    /// A file, socket or folder in a new one or in a layer that is the machine's.
    PINTLE_PLACE_KEPT,
    /// A symbolic link in a new folder.
    PINTLE_PLACE_LINK,
    /// A folder such as /proc, with the processes of the child alone.
    PINTLE_PLACE_PROCESSES,
    /// A file in whose place another one is seen.
    PINTLE_PLACE_COPY,
} pintle_place_kind;

typedef struct {
    /// An absolute path without symbolic links.
    const char *path;
    /// The target of a link, or the path of the other file; NULL for other kinds.
    const char *target;
    int32_t kind;
    /// The index of the layer in which the place is; -1 if it is in none. A place in a layer counts only if the layer is made.
    int32_t layer;
    /// For the child's own use.
    int32_t descriptor;
    int32_t is_laid;
} pintle_place;

/// The program of a child, and its place. The pointers are read during pintle_fork alone.
typedef struct {
    /// A path; nothing is searched.
    const char *program;
    char *const *arguments;
    char *const *environment;
    /// The terminal in whose foreground it runs with a process group of its own; -1 to stay in this process's group.
    int32_t terminal;
    /// A port of 127.0.0.1 to listen on inside a network of its own, with no sockets but Unix, IPv4, IPv6 and netlink, and without
    /// capabilities for networks and for others' processes; 0 to stay in this process's network.
    int32_t port;
    /// 1 if every address is to lead to sockets that are handed over, else 0: then only 127.0.0.1 and ::1 are reached. Needs a port.
    int32_t captures;
    /// Addresses of 127.0.0.0/8, in the processor's byte order, whose port 53 leads to the resolver, as on every address that
    /// is not a loopback: those that the system's resolver asks (resolv.conf(5)); at most 8.
    const uint32_t *resolvers;
    int32_t resolver_count;
    /// 1 if ::1 is one of them, else 0.
    int32_t asks_v6_loopback;
    /// Where the child's files differ from the machine's, folders before what is in them. Needs a port.
    pintle_place *places;
    int32_t place_count;
    /// The working directory; NULL if it is in none of the places that are new.
    const char *folder;
    /// 1 if the child has processes of its own, and sees and signals no others. They end when pintle_end_processes is called, or, at the
    /// latest after five seconds, when this process is gone. 0 to stay among the machine's. Needs a port.
    int32_t hides_processes;
} pintle_child;

/// The step at which a child failed.
typedef enum {
    PINTLE_CHILD_FORK = 1,
    PINTLE_CHILD_NAMESPACE,
    PINTLE_CHILD_USER,
    PINTLE_CHILD_LOOPBACK,
    PINTLE_CHILD_LISTENER,
    PINTLE_CHILD_TERMINAL,
    PINTLE_CHILD_SOCKETS,
    PINTLE_CHILD_PROGRAM,
    PINTLE_CHILD_ROUTES,
    PINTLE_CHILD_RESOLVER,
    PINTLE_CHILD_CAPABILITIES,
    /// The place of a file, or -1 for all of them, is in pintle_forked.
    PINTLE_CHILD_FILES,
    PINTLE_CHILD_PROCESSES,
} pintle_child_step;

/// Properties of a network that is captured.
enum {
    /// The kernel has nftables: every port is captured. Without it TCP arrives on the ports 80 and 443 alone, connections to other
    /// ports and datagrams reach the command's own sockets, and it cannot listen on 80, 443 and 53 of all addresses.
    PINTLE_NETWORK_NFT = 1,
    /// The kernel has IPv6. Else no address of it can be reached.
    PINTLE_NETWORK_IPV6 = 2,
    /// The kernel has made every layer. Else its folder is as it was, but for the sockets among the places.
    PINTLE_NETWORK_LAYERS = 4,
};

/// A child between fork and exec.
typedef struct {
    int32_t process;
    /// The first of the child's own processes, which collects those that their parents leave; -1 if it has none of its own.
    int32_t first;
    /// The socket to it.
    int32_t control;
    /// The proxy's listener inside its network; -1 if it has none of its own. Sockets belong to the caller from then on.
    int32_t listener;
    /// Listeners for what is captured: for IPv4 and IPv6, or without PINTLE_NETWORK_NFT for the ports 80 and 443 of both families;
    /// -1 if there is none. The destination that the command asked for is SO_ORIGINAL_DST of a socket that is accepted, and without
    /// PINTLE_NETWORK_NFT its own address (getsockname(2)); its peer is the command's own socket. The destination may also be
    /// 127.0.0.1 or an address of this network that no name has: a command can connect to a listener's port directly.
    int32_t captures[2];
    /// Sockets of the resolver for IPv4 and IPv6; -1 if there is none. Without PINTLE_NETWORK_NFT datagrams come with their destination
    /// (IP_PKTINFO, IPV6_PKTINFO), which the answer must be sent with.
    int32_t resolvers_udp[2];
    int32_t resolvers_tcp[2];
    /// A socket for questions about sockets of the network (sock_diag(7)); -1 if there is none.
    int32_t diagnosis;
    /// PINTLE_NETWORK_NFT, PINTLE_NETWORK_IPV6 and PINTLE_NETWORK_LAYERS.
    uint32_t flags;
    /// The error (errno) for which there are no rules of nftables; 0 if there are, or if nothing is captured.
    int32_t rules_code;
    /// The step at which it failed, with errno; 0 where it has not.
    int32_t step;
    int32_t code;
    /// The index of the place that is the cause; -1 if none is.
    int32_t place;
} pintle_forked;

/// Forks. The child's program gets SIGTERM when the calling thread ends: call from one that outlives it. A child in a network
/// of its own hands over its sockets; every child then waits to be told to go on, and ends when nobody can tell it any
/// more. Returns 0, or -1 with step and code; there is no child then.
int pintle_fork(const pintle_child *child, pintle_forked *forked);
/// Lets the child run its program. Returns 0 when it does, else -1 with step and code; there is no child then.
int pintle_execute(pintle_forked *forked);
/// Ends a child that has not been told to go on.
void pintle_abandon(pintle_forked *forked);
/// Ends what the child has left of its own processes. Call when the child has ended, and its status is taken.
void pintle_end_processes(pintle_forked *forked);

/// Sees each connect(2) for TCP of a process and of all that it starts, without doing anything to them.
typedef struct pintle_connect_watch pintle_connect_watch;

typedef enum {
    /// A process connects, or tries to: the address and port of the other end.
    PINTLE_SIGHTED_CONNECT = 1,
    /// A process listens: address and port of its own.
    PINTLE_SIGHTED_LISTEN,
    /// A process has a name from now on.
    PINTLE_SIGHTED_NAME,
    /// A process was started, with its parent's name.
    PINTLE_SIGHTED_FORK,
    PINTLE_SIGHTED_EXIT,
    /// There was no room for something.
    PINTLE_SIGHTED_LOSS,
} pintle_sighting_kind;

typedef struct {
    /// In nanoseconds of CLOCK_MONOTONIC.
    uint64_t time;
    uint32_t kind;
    uint32_t process;
    uint32_t parent;
    uint16_t port;
    /// 4 or 16.
    uint8_t address_size;
    uint8_t address[16];
    char name[16];
} pintle_sighting;

/// Watches a process that has started no other yet. Returns NULL with errno where the system does not let this user: it
/// needs CAP_PERFMON outside of namespaces of users, and a kernel that is 4.16 or newer.
pintle_connect_watch *pintle_watch_connects(int32_t process);
/// Waits until there is much to be taken, or until the descriptor `other` can be read.
void pintle_await_sightings(const pintle_connect_watch *watch, int32_t other);
/// Takes what was seen; those of a processor are in their order. There may be more where as many as `capacity` were taken.
size_t pintle_take_sightings(pintle_connect_watch *watch, pintle_sighting *space, size_t capacity);
/// 1 if processors were switched on since, on which nothing was seen; else 0.
int pintle_misses_processors(const pintle_connect_watch *watch);
void pintle_end_watch(pintle_connect_watch *watch);

#endif
