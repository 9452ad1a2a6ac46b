// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

/// Signals that stop `fetch`, and its memory until then.
struct FetchSignalTests {
    @Test func `the first SIGINT ends it with 4`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf\n")
            _ = try connection.waitForEnd()
        }
        let process = try ChildProcess(PintleProcess.binary, ["fetch", "http://127.0.0.1:\(origin.port)/"])
        try process.waitForLine("half of the body") { $0 == "half" }
        process.signal(SIGINT)
        #expect(try process.waitForExit() == 4)
        #expect(process.errors == ["pintle fetch: interrupted"])
    }

    @Test func `the second SIGINT does not wait for who reads standard output`() throws {
        let folder = try TemporaryFolder()
        let pipe = "\(folder.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        // Open at both ends, and never read: the program's writing blocks when the pipe is full.
        let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let isCut = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            try connection.stream.send([UInt8](repeating: 0x20, count: 1 << 20))
            _ = try connection.waitForEnd()
            isCut.change { $0 = true }
        }
        let process = try ChildProcess(
            "/bin/sh", ["-c", "exec '\(PintleProcess.binary)' fetch http://127.0.0.1:\(origin.port)/ > '\(pipe)'"])
        // A byte in the pipe proves that the process catches signals by now.
        var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try #require(poll(&query, 1, -1) == 1)
        process.signal(SIGINT)
        try isCut.wait(for: "the transfer to be cancelled") { $0 }
        #expect(process.exitCode == nil)
        process.signal(SIGINT)
        #expect(try process.waitForExit() == 4, "\(process.lines)")
    }

    @Test func `a large body is not kept in memory`() throws {
        let nginx = try NginxOrigin()
        try nginx.serve([UInt8](repeating: 0x20, count: 200 << 20), as: "large")
        let script = """
            import resource, subprocess, sys
            subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
            sys.stdout.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
            """
        let process = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c", script, PintleProcess.binary, "fetch", "http://127.0.0.1:\(nginx.httpPort)/files/large",
            ])
        try process.waitForExit()
        let kibibytes = try #require(process.output.first.flatMap { Int($0) }, "\(process.lines)")
        #expect(kibibytes < 120 << 10)
    }
}
