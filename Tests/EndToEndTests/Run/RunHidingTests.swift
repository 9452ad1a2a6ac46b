// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// `pintle run --isolate`: what a command sees of the machine's services, processes and descriptors (contract §7).
@Suite(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"))
struct RunHidingTests {
    private static let python = "/usr/bin/python3"

    /// Tells of each argument if it can be connected to.
    private static let connect = """
        import socket, sys
        for path in sys.argv[1:]:
            try: socket.socket(socket.AF_UNIX).connect(path)
            except OSError as error: sys.stdout.write(type(error).__name__ + "\\n")
            else: sys.stdout.write("connected\\n")
        """

    // MARK: Sockets

    @Test func `a service is hidden unless it is exposed`() throws {
        for isExposed in [false, true] {
            let folder = try TemporaryFolder()
            let services = try ServiceFolder.all(beside: folder)
            defer { for service in services { service.remove() } }
            let list = services.map { "\"\($0.socket)\"" }.joined(separator: ", ")
            let stage = try RunStage(isExposed ? "isolate: {expose: [\(list)]}" : "")
            let process = try stage.run(["--isolate"], [Self.python, "-c", Self.connect] + services.map(\.socket))
            #expect(
                process.output == services.map { _ in isExposed ? "connected" : "ConnectionRefusedError" },
                "\(process.lines)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "mounts are root's"))
    func `a service is hidden at every place where its folder is mounted`() throws {
        let folder = try TemporaryFolder()
        let services = try ServiceFolder.all(beside: folder)
        defer { for service in services { service.remove() } }
        let stage = try RunStage()
        for service in services {
            let command = """
                mkdir -p other && mount --bind \(service.path) other && exec \(PintleProcess.binary) run --isolate -- \
                \(Self.python) -c '\(Self.connect)' other/service
                """
            let process = try ChildProcess(
                "/usr/bin/unshare", ["--mount", "sh", "-c", command], environment: RunStage.environment,
                folder: stage.folder.path)
            try process.waitForExit()
            #expect(process.output == ["ConnectionRefusedError"], "\(process.lines)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "mounts are root's"))
    func `folders of services may have more entries than the command may have open files`() throws {
        let stage = try RunStage()
        // The hard limit stays as it is.
        let command = """
            mount -t tmpfs services /run && ulimit -S -n 256 && for i in $(seq 300); do mkdir /run/folder$i && : >/run/file$i; done \
            && exec \(PintleProcess.binary) run --isolate -- bash -c 'echo /run/* | wc -w; ulimit -S -n; ls /proc/self/fd | wc -l'
            """
        let process = try ChildProcess(
            "/usr/bin/unshare", ["--mount", "bash", "-c", command], environment: RunStage.environment,
            folder: stage.folder.path)
        try process.waitForExit()
        // The list of descriptors has its own.
        #expect(process.output == ["600", "256", "4"], "\(process.lines)")
    }

    @Test func `an agent of ssh is hidden, and exposed by its variable or a pattern`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/agent.1"
        let agent = try ChildProcess("/usr/bin/ssh-agent", ["-D", "-a", path])
        defer { agent.signal(SIGTERM) }
        _ = try agent.waitForLine("SSH_AUTH_SOCK") { $0.hasPrefix("SSH_AUTH_SOCK=") }
        for (entry, code) in [("", 2), ("\"env:SSH_AUTH_SOCK\"", 1), ("\"\(folder.path)/agent.*\"", 1)]
            as [(String, Int32)]
        {
            let stage = try RunStage("isolate: {expose: [\(entry)]}")
            // The agent has no identities, which is 1; 2 is without an agent.
            let process = try stage.run(
                ["--isolate"], environment: ["SSH_AUTH_SOCK": path], ["/usr/bin/ssh-add", "-l"])
            #expect(process.exitCode == code, "\(entry): \(process.lines)")
        }
    }

    @Test func `what exposes nothing is told`() throws {
        let stage = try RunStage("isolate: {expose: [/nonexistent/socket, /etc/passwd, \"fd:99\"]}")
        let process = try stage.run(["--isolate"], ["true"])
        #expect(process.exitCode == 0)
        for words in [
            "there is no Unix socket /nonexistent/socket", "there is no Unix socket /etc/passwd",
            "pintle was started without a descriptor 99",
        ] {
            #expect(process.errors.contains { $0.contains("isolate.expose: \(words)") }, "\(process.errors)")
        }
    }

    @Test(.enabled(if: access("/run", W_OK) == 0, "this user may not write into /run"))
    func `in /run a service that starts later is hidden, too, and files are as they are`() throws {
        let service = try ServiceFolder(in: "/run")
        defer { service.remove() }
        let (fact, later, own) = ("\(service.path)/fact", "\(service.path)/later", "\(service.path)/own")
        try "a fact\n".write(toFile: fact, atomically: true, encoding: .utf8)
        let stage = try RunStage()
        let process = try stage.start(
            ["--isolate"],
            [
                "sh", "-c",
                """
                cd \(service.path); cat fact; echo changed > fact; echo ready
                until [ -e \(stage.folder.path)/go ]; do :; done
                \(Self.python) -c '\(Self.connect)' later \(later)
                \(Self.python) -c 'import socket; socket.socket(socket.AF_UNIX).bind("\(own)")'
                ls
                """,
            ])
        _ = try process.waitForLine("ready") { $0 == "ready" }
        let listener = try UnixListener(.path(later))
        defer { listener.close() }
        try stage.folder.write("", to: "go")
        try process.waitForExit()
        #expect(
            process.output == [
                "a fact", "ready", "ConnectionRefusedError", "ConnectionRefusedError", "fact", "later", "own",
                "service",
            ], "\(process.lines)")
        #expect(try String(contentsOfFile: fact, encoding: .utf8) == "a fact\n" && access(own, F_OK) != 0)
        for path in [fact, later] { unlink(path) }
    }

    @Test(.enabled(if: access("/run", W_OK) == 0, "this user may not write into /run"))
    func `a command in a folder of /run is told that its files are gone`() throws {
        let service = try ServiceFolder(in: "/run")
        defer { service.remove() }
        let stage = try RunStage()
        let process = try ChildProcess(
            PintleProcess.binary,
            [
                "run", "-c", "\(stage.folder.path)/pintle.yaml", "--isolate", "--", "sh", "-c",
                "echo a > file; cat file; pwd",
            ],
            environment: RunStage.environment, folder: service.path)
        try process.waitForExit()
        #expect(process.output == ["a", service.path] && access("\(service.path)/file", F_OK) != 0, "\(process.lines)")
        #expect(
            process.errors.contains {
                $0.hasSuffix("files that the command has written into \(service.path) are gone with it")
            },
            "\(process.errors)")
    }

    @Test func `the command's own sockets work, at any place`() throws {
        let script = """
            import multiprocessing, os, socket, sys
            with multiprocessing.Manager() as manager:
                values = manager.list([1])
                worker = multiprocessing.Process(target=values.append, args=(2,))
                worker.start()
                worker.join()
                sys.stdout.write("%s\\n" % list(values))
            server = socket.socket(socket.AF_UNIX)
            server.bind("own")
            server.listen()
            socket.socket(socket.AF_UNIX).connect(os.path.abspath("own"))
            os.unlink("own")
            """
        let stage = try RunStage()
        let process = try stage.run(["--isolate"], [Self.python, "-c", script])
        #expect(process.exitCode == 0 && process.output == ["[1, 2]"], "\(process.lines)")
    }

    // MARK: Processes

    @Test func `the command sees and signals its own processes alone`() throws {
        let script = """
            import os, sys
            sys.stdout.write("%s\\n" % sorted(int(name) for name in os.listdir("/proc") if name.isdigit()))
            sys.stdout.write("%d %d\\n" % (os.getpid(), os.getppid()))
            try: os.kill(\(getpid()), 0)
            except ProcessLookupError: sys.stdout.write("there is none\\n")
            """
        let stage = try RunStage()
        let process = try stage.run(["--isolate"], [Self.python, "-c", script])
        #expect(process.output == ["[1, 2]", "2 0", "there is none"], "\(process.lines)")
    }

    @Test func `processes that outlive their parents are reaped, and end with the command`() throws {
        let script = """
            import os, sys
            for number in range(20):
                if os.fork() == 0:
                    if os.fork() == 0:
                        while os.getppid() != 1: os.sched_yield()
                        os._exit(3)
                    os._exit(0)
                os.wait()
            def states():
                for name in filter(str.isdigit, os.listdir("/proc")):
                    try: yield open("/proc/%s/stat" % name).read().rsplit(")", 1)[1].split()[1]
                    except OSError: pass
            while "1" in list(states()): os.sched_yield()
            # It keeps standard output open, so that the test would wait for it.
            if os.fork() == 0: os.execv("/bin/sleep", ["sleep", "100000"])
            sys.exit(7)
            """
        let stage = try RunStage()
        let process = try stage.run(["--isolate"], [Self.python, "-c", script])
        #expect(process.exitCode == 7, "\(process.lines)")
    }

    @Test func `signals reach the command, and its end is told as elsewhere`() throws {
        let stage = try RunStage()
        let process = try stage.start(
            ["--isolate"], ["bash", "-c", "trap 'exit 9' TERM; sleep 1000 & echo ready; wait"])
        _ = try process.waitForLine("ready") { $0 == "ready" }
        process.signal(SIGTERM)
        #expect(try process.waitForExit() == 9, "\(process.lines)")
        #expect(try stage.run(["--isolate"], ["bash", "-c", "kill -KILL $$"]).exitCode == 137)
    }

    /// The version of landlock(7), of which 6 confines signals.
    private static let landlock: Int = {
        let script = "import ctypes, os; os.write(1, b'%d' % ctypes.CDLL(None).syscall(444, None, 0, 1))"
        let process = try? ChildProcess(Self.python, ["-c", script])
        _ = try? process?.waitForExit()
        return process?.output.first.flatMap { Int($0) } ?? 0
    }()

    @Test(.enabled(if: Self.landlock >= 6, "this kernel does not confine signals"))
    func `a signal to the command's group does not reach its job`() throws {
        let stage = try RunStage()
        let process = try stage.shell(
            """
            exec setsid --wait bash -c '
                "$pintle" run --isolate -- bash -c "trap \\\"echo got it\\\" USR1; kill -USR1 0; exit 5" | cat
                echo after ${PIPESTATUS[0]}'
            """)
        #expect(process.output == ["got it", "after 5"], "\(process.lines)")
    }

    @Test func `nothing of the command outlives a killed Pintle`() throws {
        let stage = try RunStage()
        let process = try stage.start(
            ["--isolate"], ["sh", "-c", "trap '' TERM; echo ready; sleep 100000 & wait; wait"])
        _ = try process.waitForLine("ready") { $0 == "ready" }
        process.signal(SIGKILL)
        // Its output ends when the last of its processes has.
        #expect(try process.waitForExit() == 137, "\(process.lines)")
    }

    // MARK: Descriptors

    @Test func `a descriptor that an argument names is kept`() throws {
        let stage = try RunStage()
        let process = try stage.shell("$pintle run --isolate -- cat <(echo one) <(echo two)")
        #expect(process.output == ["one", "two"], "\(process.lines)")
    }

    @Test func `descriptors are closed unless they are exposed`() throws {
        for (entry, output) in [("", ["0", "1", "2", "3"]), ("\"fd:7\"", ["0", "1", "2", "3", "7"])] {
            let stage = try RunStage("isolate: {expose: [\(entry)]}")
            let process = try stage.shell("$pintle run --isolate -- ls -1 /proc/self/fd 7</etc/passwd 8</etc/group")
            // The listing has a descriptor of its own, the lowest that is free.
            #expect(process.output == output, "\(process.lines)")
        }
    }
}
