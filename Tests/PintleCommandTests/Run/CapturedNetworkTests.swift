// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// The network of a command in which everything is captured, without the proxy: `PintleNetworkTrial` says what arrives.
@Suite(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"))
struct CapturedNetworkTests {
    private static let trial = "\(PintleProcess.products)/PintleNetworkTrial"
    /// As the user of the tests, and as one without privileges.
    static let launchers = OwnNetworks.launchers(for: Self.trial)

    /// Runs a Python script in a captured network, in which `tcp`, `udp` and `stream` ask for connections and names.
    private func run(
        _ script: String, by launcher: [String], resolvers: [String] = [], behind program: [String] = []
    ) throws -> ChildProcess {
        let words =
            launcher + program + [Self.trial] + resolvers.flatMap { ["--resolver", $0] }
            + ["--", "/usr/bin/python3", "-c", Self.prelude + script]
        let process = try ChildProcess(words[0], Array(words.dropFirst()), folder: "/")
        try process.waitForExit()
        return process
    }

    private static let prelude = """
        import ctypes, errno, os, socket, struct, sys

        def say(*words): os.write(1, " ".join(str(word) for word in words).encode() + b"\\n")
        def family(host): return socket.AF_INET6 if ":" in host else socket.AF_INET
        def arrival(one):
            line, inode = one.makefile().readline().strip().rsplit(" ", 1)
            return line if int(inode) == os.fstat(one.fileno()).st_ino else "a connection of another process"
        def tcp(host, port):
            with socket.create_connection((host, port)) as one: return arrival(one)
        def question(name):
            labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
            return struct.pack(">6H", 7, 256, 1, 0, 0, 0) + labels + bytes([0, 0, 1, 0, 1])
        def address(answer): return socket.inet_ntoa(answer[-4:]) if answer[3] == 128 else "code %d" % (answer[3] & 15)
        def udp(host, port, name="one.example"):
            with socket.socket(family(host), socket.SOCK_DGRAM) as one:
                one.connect((host, port))
                one.send(question(name))
                return address(one.recv(512))
        def stream(host, name="one.example"):
            with socket.create_connection((host, 53)) as one:
                one.send(struct.pack(">H", len(question(name))) + question(name))
                with one.makefile("rb") as file: return address(file.read(struct.unpack(">H", file.read(2))[0]))
        def told(action, *words):
            try: return action(*words)
            except OSError as error: return errno.errorcode[error.errno]
        def own(host, port):
            server = socket.socket(family(host))
            if family(host) == socket.AF_INET6: server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            server.bind((host, port))
            server.listen()
            return server

        """

    @Test(arguments: Self.launchers)
    func `connections to every address and port arrive, with their destinations and sockets`(launcher: [String]) throws
    {
        let process = try self.run(
            """
            for port in (22, 80, 443, 5432, 8443, 64101): say(tcp("192.0.2.1", port))
            for host in ("10.0.0.1", "169.254.169.254", "198.18.0.7"): say(tcp(host, 80))
            for port in (22, 80): say(tcp("2001:db8::1", port))
            with socket.create_connection(("::ffff:192.0.2.2", 80)) as one: say(arrival(one))
            one = socket.create_connection(("192.0.2.1", 80))
            other = socket.create_connection(("2001:db8::1", 80))
            say(one.getsockname()[0], one.getpeername()[0], other.getsockname()[0])
            """, by: launcher)
        #expect(
            process.output == [
                "network nft=true ipv6=true rules=0 diagnosis=true", "192.0.2.1 22", "192.0.2.1 80", "192.0.2.1 443",
                "192.0.2.1 5432", "192.0.2.1 8443", "192.0.2.1 64101", "10.0.0.1 80", "169.254.169.254 80",
                "198.18.0.7 80", "2001:db8::1 22", "2001:db8::1 80", "192.0.2.2 80",
                "198.18.0.1 192.0.2.1 fd70:696e:746c:e000::1",
            ], "\(process.lines)")
    }

    /// The kernel lets one port of the command lead to several destinations; they all end at one port.
    @Test(arguments: Self.launchers)
    func `connections from one port to two destinations are two`(launcher: [String]) throws {
        let process = try self.run(
            """
            def connection(host):
                one = socket.socket()
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind(("0.0.0.0", 40001))
                one.connect((host, 80))
                return one
            both = [connection("192.0.2.1"), connection("192.0.2.2")]
            for one in both: say(arrival(one))
            """, by: launcher)
        #expect(process.output.dropFirst() == ["192.0.2.1 80", "192.0.2.2 80"], "\(process.lines)")
    }

    @Test(arguments: Self.launchers)
    func `the command's own servers have any port, also while connections to it are captured`(
        launcher: [String]
    ) throws {
        let process = try self.run(
            """
            ports = (53, 80, 443, 3128)
            outside = [socket.create_connection(("192.0.2.1", port)) for port in ports]
            servers = {port: own("0.0.0.0", port) for port in ports}
            more = {port: own("::", port) for port in ports}
            for port in ports:
                for host, place in (("127.0.0.1", servers), ("::1", more), ("198.18.0.1", servers)):
                    with socket.create_connection((host, port)) as one:
                        assert place[port].accept()[1][:2] == one.getsockname()[:2], (host, port)
                if port != 53: say(tcp("192.0.2.1", port), tcp("2001:db8::1", port))
            datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            datagrams.bind(("0.0.0.0", 53))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.sendto(b"own", ("127.0.0.1", 53))
                say(datagrams.recv(10).decode(), udp("192.0.2.1", 53))
            """, by: launcher)
        #expect(
            process.output.dropFirst() == [
                "192.0.2.1 80 2001:db8::1 80", "192.0.2.1 443 2001:db8::1 443",
                "192.0.2.1 3128 2001:db8::1 3128", "own 198.18.0.2",
            ], "\(process.lines)")
    }

    @Test(arguments: Self.launchers)
    func `port 53 leads to the resolver, on every address and on those of the loopback that are named`(
        launcher: [String]
    ) throws {
        let process = try self.run(
            """
            for host in ("192.0.2.53", "127.0.0.53", "2001:db8::53", "::1"):
                say(udp(host, 53), stream(host), udp(host, 53, "one.test"))
            say(told(udp, "127.0.0.9", 53), told(stream, "127.0.0.9"))
            """, by: launcher, resolvers: ["127.0.0.53", "::1"])
        let answer = "198.18.0.2 198.18.0.2 code 3"
        #expect(
            process.output.dropFirst() == [answer, answer, answer, answer, "ECONNREFUSED ECONNREFUSED"],
            "\(process.lines)")
        #expect(process.errors == [String](repeating: "denied one.test", count: 4))
    }

    @Test(arguments: Self.launchers)
    func `names are found as everywhere, and connections to them have their names`(launcher: [String]) throws {
        let process = try self.run(
            """
            def found(name): return {entry[4][0] for entry in socket.getaddrinfo(name, 80, flags=socket.AI_ADDRCONFIG)}
            say(*sorted(found("one.example")))
            say(tcp("one.example", 5432), tcp("two.example", 22), tcp("fd70:696e:746c:e000::2", 25))
            try: found("one.test")
            except socket.gaierror as error: say(error.errno == socket.EAI_NONAME)
            say(socket.gethostbyaddr("198.18.0.2")[0])
            say(len({address for number in range(1000) for address in found("n%d.example" % number)}))
            """, by: launcher)
        #expect(
            process.output.dropFirst() == [
                "198.18.0.2 fd70:696e:746c:e000::2", "one.example 5432 two.example 22 one.example 25", "True",
                "one.example", "2000",
            ], "\(process.lines)")
    }

    @Test(arguments: Self.launchers)
    func `datagrams to other ports are refused at once, and never reach the command's own sockets`(
        launcher: [String]
    ) throws {
        let process = try self.run(
            """
            sockets = [socket.socket(kind, socket.SOCK_DGRAM) for kind in (socket.AF_INET, socket.AF_INET6)]
            sockets[0].bind(("0.0.0.0", 443))
            sockets[1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sockets[1].bind(("::", 443))
            for host in ("192.0.2.1", "2001:db8::1"): say(told(udp, host, 443))
            for one in sockets:
                one.setblocking(False)
                say(told(one.recv, 10))
            """, by: launcher)
        #expect(process.output.dropFirst() == ["ECONNREFUSED", "ECONNREFUSED", "EAGAIN", "EAGAIN"], "\(process.lines)")
    }

    /// A socket of a kernel's interface, the messages of `ip` and `nft`, and the ways into other networks.
    @Test(arguments: Self.launchers)
    func `the command changes neither routes nor rules, and enters no other network`(launcher: [String]) throws {
        let process = try self.run(
            """
            libc = ctypes.CDLL(None, use_errno=True)
            def code(result): return errno.errorcode[ctypes.get_errno()] if result == -1 else "done"
            def ask(protocol, *messages):
                with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as kernel:
                    text = b""
                    for kind, flags, body in messages:
                        text += struct.pack("=IHHII", 16 + len(body), kind, flags | 1, 1, 0) + body
                    kernel.send(text)
                    answer = kernel.recv(4096)
                    return errno.errorcode.get(-struct.unpack_from("=i", answer, 16)[0], "done")
            def attribute(kind, value): return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)
            route = struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 255, 4, 254, 2, 0)
            say("route", ask(0, (25, 4, route + attribute(4, struct.pack("=I", 1)))))
            address = struct.pack("=BBBBI", 2, 32, 0, 0, 1) + attribute(2, socket.inet_aton("192.0.2.9"))
            say("address", ask(0, (20, 0x604, address)))
            border = struct.pack("=BBH", 0, 0, socket.htons(10))
            table = struct.pack("=BBH", 1, 0, 0) + attribute(1, b"pintle\\0")
            say("rules", ask(12, (16, 0, border), (0xA02, 4, table), (17, 0, border)))
            for kind in (socket.AF_INET, socket.AF_INET6): say("raw", told(socket.socket, kind, socket.SOCK_RAW, 1))
            with socket.socket() as one: say("mark", told(one.setsockopt, 1, 36, 7))
            with socket.socket() as one: say("transparent", told(one.setsockopt, 0, 19, 1))
            say("unshare", code(libc.unshare(0x40000000)))
            try: say("enter", code(libc.setns(os.open("/proc/%d/ns/net" % os.getppid(), os.O_RDONLY), 0x40000000)))
            except PermissionError: say("enter EPERM")
            say("inner", code(libc.unshare(0x50000000)), told(tcp, "192.0.2.1", 80))
            """, by: launcher)
        #expect(
            process.output.dropFirst() == [
                "route EPERM", "address EPERM", "rules EPERM", "raw EPERM", "raw EPERM", "mark EPERM",
                "transparent EPERM", "unshare EPERM", "enter EPERM", "inner done ENETUNREACH",
            ], "\(process.lines)")
    }

    @Test(.enabled(if: geteuid() == 0, "for root")) func `root keeps its power over files and users`() throws {
        let process = try self.run(
            """
            import tempfile
            with tempfile.NamedTemporaryFile() as file:
                os.chown(file.name, 65534, 65534)
                os.chmod(file.name, 0)
                open(file.name).close()
                if os.fork() == 0:
                    os.setgroups([])
                    os.setgid(65534)
                    os.setuid(65534)
                    say(os.getuid(), tcp("192.0.2.1", 80))
                    os._exit(0)
                say(os.wait()[1])
            """, by: ["/usr/bin/env"])
        #expect(process.output.dropFirst() == ["65534 192.0.2.1 80", "0"], "\(process.lines)")
    }

    /// A filter of system calls hides the kernel's nftables.
    @Test(arguments: Self.launchers)
    func `without nftables the ports 80, 443 and 53 are captured, and the network says why`(launcher: [String]) throws {
        let filter = """
            import ctypes, os, struct, sys
            call = {"x86_64": 41, "aarch64": 198}[os.uname().machine]
            steps = [(0x20, 0, 0, 0), (0x15, 0, 5, call), (0x20, 0, 0, 16), (0x15, 0, 3, 16), (0x20, 0, 0, 32),
                (0x15, 0, 1, 12), (6, 0, 0, 0x50000 | 93), (6, 0, 0, 0x7FFF0000)]
            text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
            class Program(ctypes.Structure): _fields_ = [("count", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
            libc = ctypes.CDLL(None)
            assert libc.prctl(38, 1, 0, 0, 0) == 0
            assert libc.prctl(22, 2, ctypes.byref(Program(len(steps), ctypes.addressof(text)))) == 0
            os.execv(sys.argv[1], sys.argv[1:])
            """
        let process = try self.run(
            """
            for host in ("192.0.2.1", "2001:db8::1"):
                for port in (80, 443, 22): say(told(tcp, host, port))
                say(udp(host, 53), stream(host), told(udp, host, 443))
            say(udp("127.0.0.53", 53), tcp("one.example", 80))
            """, by: launcher, behind: ["/usr/bin/python3", "-c", filter])
        #expect(
            process.output == [
                "network nft=false ipv6=true rules=93 diagnosis=true", "192.0.2.1 80", "192.0.2.1 443", "ECONNREFUSED",
                "198.18.0.2 198.18.0.2 ECONNREFUSED", "2001:db8::1 80", "2001:db8::1 443", "ECONNREFUSED",
                "198.18.0.2 198.18.0.2 ECONNREFUSED", "198.18.0.2 one.example 80",
            ], "\(process.lines)")
    }

    @Test func `the command ends with the process that has started it`() throws {
        let process = try self.start("say(os.getpid()); os.read(0, 1); import signal; signal.pause()")
        let child = try Int32(process.waitForLine("its id") { Int32($0) != nil }) ?? 0
        process.signal(SIGKILL)
        try Patience.wait(for: "the end of the command") { kill(child, 0) != 0 }
    }

    private func start(_ script: String) throws -> ChildProcess {
        try ChildProcess(Self.trial, ["--", "/usr/bin/python3", "-c", Self.prelude + script], folder: "/")
    }
}
