// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Process namespaces, in which a command is process 1 as in a container.
private enum OwnProcesses {
    static let launcher = ["--pid", "--fork", "--mount-proc", "--kill-child"]

    static let isAvailable: Bool = {
        let process = try? ChildProcess("/usr/bin/unshare", Self.launcher + ["/bin/true"])
        return (try? process?.waitForExit()) == 0
    }()
}

/// `pintle run` as the first process of a container.
@Suite(.enabled(if: OwnProcesses.isAvailable, "this system lets this user make no process namespaces"))
struct RunProcessOneTests {
    private let stage: RunStage

    init() throws { self.stage = try RunStage() }

    private func run(_ script: String) throws -> ChildProcess {
        let process = try ChildProcess(
            "/usr/bin/unshare",
            OwnProcesses.launcher + [PintleProcess.binary, "run", "--", "/usr/bin/python3", "-c", script],
            environment: RunStage.environment, folder: self.stage.folder.path)
        try process.waitForExit()
        return process
    }

    @Test func `LOOK-87 processes that outlive their parents are reaped while the command runs`() throws {
        let process = try self.run(
            """
            import os, sys
            def states():
                # Without those that end in between.
                for name in filter(str.isdigit, os.listdir("/proc")):
                    try: yield open("/proc/%s/stat" % name).read().rsplit(")", 1)[1].split()[:2]
                    except OSError: pass
            assert os.getppid() == 1
            heard, said = os.pipe()
            for number in range(20):
                if os.fork() == 0:
                    if os.fork() == 0:
                        os.close(heard)
                        while os.getppid() != 1: os.sched_yield()
                        os.write(said, b"x")
                        os._exit(3)
                    os._exit(0)
                os.wait()
            os.close(said)
            count = 0
            while piece := os.read(heard, 100): count += len(piece)
            assert count == 20
            while ["Z", "1"] in states(): os.sched_yield()
            sys.exit(7)
            """)
        #expect(process.exitCode == 7, "\(process.lines)")
    }

    @Test func `a signal that ends the command is told as elsewhere`() throws {
        let process = try self.run("import os; os.kill(os.getpid(), 9)")
        #expect(process.exitCode == 137, "\(process.lines)")
    }
}
