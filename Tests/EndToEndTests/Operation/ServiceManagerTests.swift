// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// Messages to a service manager, and the sockets that it passes: sd_notify(3) and sd_listen_fds(3).
struct ServiceManagerTests {
    let folder: TemporaryFolder
    let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(answering: response("done"))
        try self.folder.write("version: 1\nlog: {format: json}\n", to: "pintle.yaml")
    }

    private var configuration: String { "\(self.folder.path)/pintle.yaml" }

    private func start(_ environment: [String: String], _ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            PintleProcess.binary, ["serve", "-c", self.configuration, "--listen", "127.0.0.1:0"] + arguments,
            environment: environment.merging(["XDG_STATE_HOME": self.folder.path]) { $1 })
    }

    // MARK: Notifying

    @Test(arguments: [false, true])
    func `the manager hears of readiness, reloads and the end`(isAbstract: Bool) throws {
        let manager = try NotifySocket(
            isAbstract ? "@\(self.folder.path)" : "\(self.folder.path)/notify")
        let process = try self.start(["NOTIFY_SOCKET": manager.name])
        let ready = try manager.wait(for: "readiness") { $0.hasPrefix("READY=1\n") }
        #expect(ready[0].contains("\nSTATUS=listening on 127.0.0.1:"))
        // A client may connect once the process has reported that it is ready.
        let port = try #require(ready[0].split(separator: ":").last.flatMap { Int($0) })
        #expect(try Curl.run(proxy: port, "http://127.0.0.1:\(self.origin.port)/").text == "done")

        process.signal(SIGHUP)
        try manager.wait(for: "readiness again", 2) { $0.hasPrefix("READY=1\n") }
        let reload = try #require(manager.messages.dropFirst().first)
        let time = try #require(
            reload.split(separator: "\n").dropFirst().first?.split(separator: "=").last.flatMap { Int($0) })
        #expect(reload.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") && time > 0)

        try self.folder.write("version: 2\n", to: "pintle.yaml")
        process.signal(SIGHUP)
        let refused = try manager.wait(for: "the refusal") { $0.contains("the last reload was refused: ") }
        #expect(refused[0].contains("pintle.yaml:1:10"), "\(refused)")

        process.signal(SIGTERM)
        #expect(try process.waitForExit() == 0)
        try manager.wait(for: "the end") { $0.hasPrefix("STOPPING=1\nSTATUS=") }
        #expect(!manager.messages.contains { $0.hasPrefix("WATCHDOG") })
    }

    @Test func `a watchdog gets signs of life, if it is this process that it watches`() throws {
        let manager = try NotifySocket("\(self.folder.path)/notify")
        let watched = try self.start(["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "40000"])
        try manager.wait(for: "three signs", 3) { $0 == "WATCHDOG=1" }
        // A stopped process gives no signs of life.
        kill(watched.pid, SIGSTOP)
        kill(watched.pid, SIGCONT)
        try manager.wait(for: "more signs", 6) { $0 == "WATCHDOG=1" }
        let other = try NotifySocket("\(self.folder.path)/other")
        let process = try self.start(
            ["NOTIFY_SOCKET": other.name, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"])
        try other.wait(for: "readiness") { $0.hasPrefix("READY=1") }
        process.signal(SIGTERM)
        #expect(try process.waitForExit() == 0)
        try other.wait(for: "the end") { $0.hasPrefix("STOPPING=1") }
        #expect(!other.messages.contains { $0.hasPrefix("WATCHDOG") })
    }

    @Test func `a manager that is gone stops nobody, and one without an address is refused`() throws {
        let process = try self.start(["NOTIFY_SOCKET": "\(self.folder.path)/nobody"])
        try process.waitForLine("the ready line") { $0.contains("listening") }
        process.signal(SIGTERM)
        #expect(try process.waitForExit() == 0)
        let bad = try self.start(["NOTIFY_SOCKET": "vsock:2:1234"])
        #expect(try bad.waitForExit() == 2)
        #expect(bad.errors[0].hasPrefix("NOTIFY_SOCKET=vsock:2:1234: "), "\(bad.lines)")
    }

    // MARK: Sockets that are given

    /// Binds sockets, prints their ports, and becomes the proxy.
    private static let giver = """
        import os, socket, sys
        pid, names, kinds, command = sys.argv[1], sys.argv[2], sys.argv[3].split(","), sys.argv[4:]
        given = []
        for kind in kinds:
            if kind == "udp":
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0))
            elif kind == "file":
                s = open("/dev/null")
            elif kind.startswith("/"):
                s = socket.socket(socket.AF_UNIX); s.bind(kind); s.listen()
            else:
                s = socket.socket(); s.bind(("127.0.0.1", 0))
                if kind != "deaf": s.listen()
                os.write(1, b"port %d\\n" % s.getsockname()[1])
            given.append(os.dup(s.fileno()))
        high = [os.dup2(d, 100 + i) for i, d in enumerate(given)]
        for i, d in enumerate(high): os.dup2(d, 3 + i)
        os.closerange(100, 200)
        environment = dict(os.environ, LISTEN_FDS=str(len(given)), LISTEN_FDNAMES=names)
        environment["LISTEN_PID"] = str(os.getpid()) if pid == "own" else pid
        os.execve(command[0], command, environment)
        """

    private func give(
        _ kinds: String, names: String = "", pid: String = "own", arguments: [String] = []
    ) throws -> ChildProcess {
        try ChildProcess(
            "/usr/bin/python3",
            ["-c", Self.giver, pid, names, kinds, PintleProcess.binary, "serve", "-c", self.configuration] + arguments,
            environment: ["XDG_STATE_HOME": self.folder.path])
    }

    @Test func `sockets that are given take the place of listen, and survive the proxy`() throws {
        let root = try self.issue()
        let path = "\(self.folder.path)/given.sock"
        let process = try self.give("tcp,tcp,\(path)", names: "web:https:local")
        let ready = try process.waitForLine("the ready line") { $0.contains("\"listening\"") }
        let ports = process.output.compactMap { $0.hasPrefix("port ") ? Int($0.dropFirst(5)) : nil }
        #expect(ready.contains("127.0.0.1:\(ports[0]) https://127.0.0.1:\(ports[1]) unix:\(path)"), "\(ready)")
        let url = "http://127.0.0.1:\(self.origin.port)/"
        #expect(try Curl.run(proxy: ports[0], url).text == "done")
        let tls = try Curl.run("--proxy", "https://127.0.0.1:\(ports[1])", "--proxy-cacert", root, url)
        #expect(tls.text == "done", "\(tls)")
        let client = try SocketStream(path: path)
        try client.send(get(self.origin.port))
        #expect(try client.readResponse(to: "GET").text == "done")
        // The sockets survive a reload.
        process.signal(SIGHUP)
        try process.waitForLine("the reload") { $0.contains("reloaded ") }
        #expect(try Curl.run(proxy: ports[0], url).text == "done")
        process.signal(SIGTERM)
        #expect(try process.waitForExit() == 0)
        #expect(FileManager.default.fileExists(atPath: path), "it is its maker's to remove")
    }

    private func issue() throws -> String {
        let pki = TestPKI()
        let root = try pki.root()
        _ = try self.folder.write(pki.leaf(ip: ["127.0.0.1"], signedBy: root), as: "proxy")
        try self.folder.write(
            "version: 1\nlog: {format: json}\nlisten_tls: {certificate: proxy.pem, key: proxy.key}\n", to: "pintle.yaml"
        )
        return try self.folder.write(root.certificatePEM, to: "root.pem")
    }

    @Test(arguments: [
        ("udp", "", "the descriptor 3 of LISTEN_FDS is no stream socket"),
        ("tcp,file", "a:b", "the descriptor 4 \"b\" of LISTEN_FDS is no socket"),
        ("deaf", "", "the descriptor 3 of LISTEN_FDS does not listen"),
        ("tcp", "https", "needs a certificate to show to clients"),
    ])
    func `what cannot be served on is named`(kinds: String, names: String, message: String) throws {
        let process = try self.give(kinds, names: names)
        #expect(try process.waitForExit() == (names == "https" ? 3 : 4), "\(process.lines)")
        #expect(process.errors.contains { $0.contains(message) }, "\(process.lines)")
    }

    @Test func `sockets for another process are none, and a flag beside them is refused`() throws {
        let process = try self.give("file", pid: "1", arguments: ["--listen", "127.0.0.1:0"])
        try process.waitForLine("the ready line") { $0.contains("listening") }
        let both = try self.give("tcp", arguments: ["--listen", "127.0.0.1:0"])
        #expect(try both.waitForExit() == 2)
        #expect(both.errors.contains { $0.contains("the service manager listens already") }, "\(both.lines)")
    }

    // MARK: Units

    private static let analyzer = "/usr/bin/systemd-analyze"

    private static let units = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("conf/systemd")

    @Test func `LOOK-05 the unit starts the proxy again however often it ends, and leaves no core`() throws {
        let text = try String(contentsOf: Self.units.appendingPathComponent("pintle.service"), encoding: .utf8)
        var section = ""
        var settings: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("[") { section = String(line) }
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { settings["\(section)\(parts[0])"] = String(parts[1]) }
        }
        #expect(settings["[Unit]StartLimitIntervalSec"] == "0")
        #expect(settings["[Service]Restart"] == "on-failure" && settings["[Service]RestartSec"] == "500ms")
        #expect(settings["[Service]LimitCORE"] == "0")
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: analyzer)))
    func `systemd finds nothing wrong with the units`() throws {
        var paths: [String] = []
        for name in ["pintle.service", "pintle.socket"] {
            let text = try String(contentsOf: Self.units.appendingPathComponent(name), encoding: .utf8)
            paths.append(
                try self.folder.write(
                    text.replacingOccurrences(of: "/usr/bin/pintle", with: PintleProcess.binary), to: name))
        }
        let process = try ChildProcess(Self.analyzer, ["verify", "--man=no"] + paths)
        #expect(try process.waitForExit() == 0, "\(process.lines)")
        let own = process.errors.filter { $0.contains(self.folder.path) }
        #expect(own.isEmpty, "\(own)")
    }
}
