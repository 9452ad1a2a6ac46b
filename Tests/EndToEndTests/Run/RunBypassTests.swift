// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// Connections of a command past its proxy.
struct RunBypassTests {
    private let stage: RunStage

    init() throws { self.stage = try RunStage() }

    /// A process whose parent has ended connects, and closes the connection at once.
    private static func brief(_ port: Int) -> [String] {
        let script = """
            import os, socket
            reading, writing = os.pipe()
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    socket.create_connection(("127.0.0.1", \(port))).close()
                    os.write(writing, b".")
                os._exit(0)
            os.wait()
            os.read(reading, 1)
            """
        return ["/bin/sh", "-c", "/usr/bin/python3 -c '\(script.replacingOccurrences(of: "'", with: "'\\''"))'; true"]
    }

    @Test func `LOOK-117 the shortest connection is told, or the summary says that it may be missing`() throws {
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        for _ in 0..<8 {
            let process = try self.stage.run(["--report", "json=report.json"], Self.brief(origin.port))
            #expect(process.exitCode == 0, "\(process.lines)")
            let report = try self.stage.report()
            if report.text("past_proxy_seen") == "all" {
                #expect(
                    report.objects("past_proxy").map { "\($0.text("remote")) \($0.text("program"))" } == [
                        "127.0.0.1:\(origin.port) python3"
                    ], "\(process.lines)")
                #expect(
                    process.errors.last == "past the proxy: 127.0.0.1:\(origin.port) by python3", "\(process.lines)")
            } else {
                #expect(process.errors.contains { $0.contains("short ones may be missing here") }, "\(process.lines)")
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root may watch"))
    func `LOOK-117 root misses nothing, and its own servers are the command's`() throws {
        let script = """
            import socket, sys
            server = socket.create_server(("127.0.0.1", 0))
            socket.create_connection(server.getsockname()).close()
            try: socket.create_connection(("127.0.0.1", 1))
            except ConnectionRefusedError: pass
            """
        let process = try self.stage.run(
            ["--report", "json=report.json", "--fail-on", "bypass"], ["/usr/bin/python3", "-c", script])
        let report = try self.stage.report()
        // A container may have a root without this power.
        guard report.text("past_proxy_seen") == "all" else { return }
        #expect(process.exitCode == 1, "\(process.lines)")
        #expect(report.objects("past_proxy").map { $0.text("remote") } == ["127.0.0.1:1"], "\(process.lines)")
    }

    @Test func `LOOK-117 a script without an interpreter's name is watched as the shell's`() throws {
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        try self.stage.folder.write(
            "import socket; socket.create_connection((\"127.0.0.1\", \(origin.port)))", to: "connect.py")
        // A separate process makes the script: a process that another test has just forked could still have it open for
        // writing.
        let process = try self.stage.shell(
            "echo /usr/bin/python3 connect.py > script; chmod 755 script; exec $pintle run --report json=report.json -- ./script"
        )
        #expect(process.exitCode == 0, "\(process.lines)")
        let report = try self.stage.report()
        guard report.text("past_proxy_seen") == "all" else { return }
        #expect(report.objects("past_proxy").map { $0.text("remote") } == ["127.0.0.1:\(origin.port)"])
    }

    /// For ordinary users, and root without its capabilities.
    @Test func `LOOK-117 who may not watch looks from time to time, and is told so`() throws {
        let waiting = try RawOrigin { connection in _ = try connection.waitForEnd() }
        // Waits until the watch, a thread of Pintle's, has been on a processor often enough for a whole look.
        let script = """
            import glob, os, socket
            kept = socket.create_connection(("127.0.0.1", \(waiting.port)))
            def looks():
                for task in glob.glob("/proc/%d/task/*" % os.getppid()):
                    try:
                        if open(task + "/comm").read() == "pintle-watch\\n":
                            lines = open(task + "/status").read().split("\\n")
                            return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt"))
                    except OSError:
                        pass # A thread that has ended meanwhile.
                return 0
            before = looks()
            while looks() < before + 3: os.sched_yield()
            """
        let command = [
            PintleProcess.binary, "run", "--report", "json=report.json", "--", "/usr/bin/python3", "-c", script,
        ]
        let isRoot = geteuid() == 0
        let whole = isRoot ? ["/usr/bin/setpriv", "--bounding-set=-all"] + command : command
        let process = try ChildProcess(
            whole[0], Array(whole.dropFirst()), environment: RunStage.environment, folder: self.stage.folder.path)
        try process.waitForExit()
        #expect(process.exitCode == 0, "\(process.lines)")
        let report = try self.stage.report()
        #expect(report.text("past_proxy_seen") == "sampled")
        let past = report.objects("past_proxy")
        #expect(past.map { $0.text("remote") } == ["127.0.0.1:\(waiting.port)"], "\(process.lines)")
        #expect(
            process.errors[1]
                == "note: connections past the proxy were looked for from time to time, so short ones may be missing here: "
                + "to see all takes root, or CAP_PERFMON; --isolate lets none past", "\(process.lines)")
        #expect(
            process.errors.last == "past the proxy: 127.0.0.1:\(waiting.port) by \(past.first?.text("program") ?? "")")
    }
}
