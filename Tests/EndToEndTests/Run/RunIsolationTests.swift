// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// `pintle run --isolate`: a network whose only way out is the proxy.
@Suite(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"))
struct RunIsolationTests {
    private let stage: RunStage
    private let origin: RawOrigin

    init() throws {
        self.stage = try RunStage()
        self.origin = try RawOrigin(answering: response("done"))
    }

    private var url: String { "http://127.0.0.1:\(self.origin.port)/" }

    @Test func `requests go through the proxy, and nothing goes past it`() throws {
        let process = try self.stage.run(
            ["--isolate", "--report", "json=report.json"],
            ["sh", "-c", "curl -sS \(self.url); curl -s --noproxy '*' \(self.url) || echo refused; exit 6"])
        #expect(process.exitCode == 6 && process.output == ["donerefused"], "\(process.lines)")
        #expect(
            self.origin.requests.count == 1 && self.origin.requests[0].head["Via"]?.hasPrefix("1.1 pintle-") == true)
        #expect(try self.stage.report().object("summary").number("requests") == 1)
    }

    @Test func `LOOK-105 an attempt past the proxy leaves a trace, though its program says nothing`() throws {
        let quiet = ["sh", "-c", "curl -s --noproxy '*' http://192.0.2.1/; curl -sS \(self.url)"]
        let process = try self.stage.run(["--isolate=closed", "--report", "json=report.json"], quiet)
        #expect(process.exitCode == 0 && process.output == ["done"], "\(process.lines)")
        #expect(process.errors.last?.hasPrefix("past the proxy: 1 attempt was refused") == true, "\(process.lines)")
        #expect(try self.stage.report().number("refused_past_proxy") == 1)
        #expect(try self.stage.run(["--isolate=closed", "--fail-on", "bypass"], quiet).exitCode == 1)
        let proper = try self.stage.run(["--isolate=closed", "--fail-on", "bypass"], ["curl", "-sS", self.url])
        #expect(proper.exitCode == 0, "\(proper.lines)")
    }

    @Test func `the command has a loopback, and the user that it had`() throws {
        let script = """
            import http.server, os, threading, urllib.request
            server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            ask = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            status = ask.open("http://127.0.0.1:%d/" % server.server_port).status
            os.write(1, b"%d %d %d" % (status, os.getuid(), os.getgid()))
            """
        let process = try self.stage.run(["--isolate"], ["/usr/bin/python3", "-c", script])
        #expect(process.output == ["200 \(getuid()) \(getgid())"], "\(process.lines)")
    }

    /// AF_VSOCK reaches the host of a virtual machine. Kernels differ in the address families that they have, so all are
    /// tried.
    @Test func `LOOK-91 no socket reaches past the network, and io_uring makes none`() throws {
        let script = """
            import ctypes, errno, os, socket
            made = []
            for family in range(1, 64):
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
                    try: socket.socket(family, kind).close()
                    except OSError as error: assert family in (1, 2, 10, 16) or error.errno == errno.EAFNOSUPPORT, (family, error)
                    else: made.append(family)
            ring = ctypes.CDLL(None, use_errno=True)
            assert ring.syscall(425, 8, ctypes.create_string_buffer(120)) == -1 and ctypes.get_errno() == errno.ENOSYS
            os.write(1, repr(sorted(set(made))).encode())
            """
        let process = try self.stage.run(["--isolate"], ["/usr/bin/python3", "-c", script])
        #expect(
            process.exitCode == 0 && ["[1, 2, 10, 16]", "[1, 2, 16]"].contains(process.output.last), "\(process.lines)")
    }

    @Test(
        arguments: [(["nosuch"], 127), (["/tmp"], 126), (["sh", "-c", "kill -TERM $$"], 143)] as [([String], Int32)])
    func `it ends as it would elsewhere`(command: [String], code: Int32) throws {
        let process = try self.stage.run(["--isolate"], command)
        #expect(process.exitCode == code, "\(process.lines)")
    }

    @Test func `two at a time do not meet`() throws {
        let process = try self.stage.run(
            ["--isolate"], [PintleProcess.binary, "run", "--isolate", "-c", "pintle.yaml", "--", "true"])
        // The inner run may need a privilege that the outer one has removed; then its exit code is 125.
        #expect([0, 125].contains(process.exitCode), "\(process.lines)")
    }

    @Test func `a system that allows no namespaces is told of`() throws {
        // A limit of none, inside a namespace of users whose limit is its own.
        let process = try ChildProcess(
            "/usr/bin/unshare",
            [
                "--user", "--map-root-user", "/bin/sh", "-c",
                "echo 0 > /proc/sys/user/max_net_namespaces && exec \(PintleProcess.binary) run --isolate -- true",
            ], environment: RunStage.environment, folder: self.stage.folder.path)
        guard try process.waitForExit() != 1 else { return }
        #expect(process.exitCode == 125, "\(process.lines)")
        #expect(
            process.errors.last
                == "pintle run: there is no network of its own for the command: no space left on the device; --isolate needs "
                + "namespaces (unshare(2)), which the limit user.max_net_namespaces does not let this user make: "
                + "raise it (sysctl(8))", "\(process.lines)")
    }

    @Test func `the command has no power over its network, not even as root`() throws {
        let script = """
            import os, socket
            caps = [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")][0]
            raw = "none"
            try: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
            except PermissionError: raw = "refused"
            os.write(1, b"%d %s" % (int(caps, 16) & (1 << 12 | 1 << 13 | 1 << 21), raw.encode()))
            """
        let process = try self.stage.run(["--isolate"], ["/usr/bin/python3", "-c", script])
        #expect(process.output == ["0 refused"], "\(process.lines)")
    }
}
