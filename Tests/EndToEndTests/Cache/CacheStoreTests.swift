// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Storage of answers in memory and on disk, and their removal (`pintle purge`).
struct CacheStoreTests {
    private let folder: TemporaryFolder
    private let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin { connection in
            while true {
                let path = try connection.readRequest().head.startLine.split(separator: " ")[1]
                let tags = "Cache-Tag: all, tag\(path.dropFirst())\r\n"
                try connection.send(response("at \(path)", fields: "Cache-Control: max-age=600\r\n\(tags)"))
            }
        }
    }

    private func start(_ cache: String = "{}") throws -> PintleProcess {
        try PintleProcess(
            "cache: \(cache)\nroutes: [{name: kept, cache: {policy: protocol}}]", folder: self.folder)
    }

    private func run(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(
            arguments, environment: ["XDG_STATE_HOME": self.folder.path, "PATH": "/usr/bin:/bin"])
    }

    @Test func `answers outlive the process`() throws {
        var pintle = try self.start()
        for path in ["/a", "/b"] { _ = try pintle.ask(get(self.origin.port, path)) }
        #expect(try pintle.stop() == 0)
        pintle = try self.start()
        for path in ["/a", "/b"] {
            let answer = try pintle.ask(get(self.origin.port, path))
            #expect(answer.text == "at \(path)" && answer["Cache-Status"]?.contains(";hit") == true)
        }
        #expect(self.origin.requests.count == 2)
    }

    @Test func `a second proxy on the same folder says so, and keeps answers in memory`() throws {
        let first = try self.start()
        let second = try PintleProcess(
            "cache: {path: \"\(self.folder.path)/pintle/cache\"}\nroutes: [{name: kept, cache: {policy: protocol}}]")
        #expect(second.process.lines.contains { $0.text.contains("answers are kept in memory alone") })
        for pintle in [first, second] {
            for _ in 0..<2 { #expect(try pintle.ask(get(self.origin.port, "/a")).text == "at /a") }
        }
        #expect(self.origin.requests.count == 2)
    }

    @Test func `a folder that could not be used is tried again by a reload`() throws {
        let first = try self.start()
        let folder = try TemporaryFolder()
        let second = try PintleProcess(
            "cache: {path: \"\(self.folder.path)/pintle/cache\"}\nroutes: [{name: kept, cache: {policy: protocol}}]",
            folder: folder)
        #expect(try first.stop() == 0)
        let environment = ["XDG_STATE_HOME": folder.path, "PATH": "/usr/bin:/bin"]
        #expect(try PintleProcess.run(["reload"], environment: environment).exitCode == 0)
        #expect(try second.ask(get(self.origin.port, "/a")).text == "at /a")
        let status = try PintleProcess.run(["status"], environment: environment)
        #expect(status.output.contains { $0.contains(" on disk") }, "\(status.output)")
    }

    @Test func `purge removes by URL, beginning, tag and all, on disk, too`() throws {
        var pintle = try self.start()
        let base = "http://127.0.0.1:\(self.origin.port)"
        func fill() throws { for path in ["/a", "/b", "/c/d"] { _ = try pintle.ask(get(self.origin.port, path)) } }
        func isKept(_ path: String) throws -> Bool {
            try pintle.ask(get(self.origin.port, path))["Cache-Status"]?.contains(";hit") == true
        }
        try fill()
        #expect(try self.run("purge", base + "/a").errors == ["1 answer is gone"])
        #expect(try isKept("/b") && !isKept("/a"))
        #expect(try self.run("purge", "--prefix", base + "/c").errors == ["1 answer is gone"])
        #expect(try isKept("/b") && !isKept("/c/d"))
        #expect(try self.run("purge", "--tag", "tagb").errors == ["1 answer is gone"])
        #expect(try isKept("/a") && !isKept("/b"))
        #expect(try self.run("purge", "--all").errors == ["3 answers are gone"])
        #expect(try pintle.stop() == 0)
        pintle = try self.start()
        #expect(try !isKept("/a") && !isKept("/b") && !isKept("/c/d"))
        let status = try self.run("status")
        let start = "cache: 0 hits, 3 misses, 0 merged, 0 purged; 3 answers of "
        #expect(status.lines.contains { $0.text.hasPrefix(start) })
        // LOOK-109: a script learns that nothing is stored for a URL.
        let none = try self.run("purge", base + "/none")
        #expect(none.exitCode == 1 && none.errors == ["nothing is kept that this names"], "\(none.lines)")
        let nothing = try self.run("purge")
        #expect(nothing.errors.contains { $0.contains("Say what goes") })
    }

    /// True if a process may have its own file systems on this machine.
    private static let hasMounts: Bool = {
        let process = try? ChildProcess("/usr/bin/unshare", ["-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        return (try? process?.waitForExit()) == 0
    }()

    @Test(.enabled(if: Self.hasMounts, "needs unshare(1) and the right to mount a tmpfs in a user namespace"))
    func `a disk that fills is said once, and answers go on`() throws {
        let big = try RawOrigin(
            answering: response(String(repeating: "x", count: 400_000), fields: "Cache-Control: max-age=600\r\n"))
        let disk = try TemporaryFolder()
        let mount = "mount -t tmpfs -o size=3m tmpfs \"$0\" && exec \"$@\""
        let pintle = try PintleProcess(
            "cache: {path: \"\(disk.path)/cache\"}\nroutes: [{name: kept, cache: {policy: protocol}}]",
            by: ["/usr/bin/unshare", "-Urm", "/bin/sh", "-c", mount, disk.path])
        func ask(_ numbers: Range<Int>) throws {
            for number in numbers {
                let answer = try pintle.ask(get(big.port, "/\(number)"))
                #expect(answer.head.status == 200 && answer.text.utf8.count == 400_000)
            }
        }
        try ask(0..<20)
        try pintle.process.waitForLine("the shortage") { $0.contains("no space left on the device") }
        try ask(20..<40)
        // All of them come from memory, as always.
        try ask(0..<40)
        #expect(try pintle.stop() == 0)
        #expect(pintle.process.lines.count { $0.text.contains("no space left on the device") } == 1)
        #expect(big.requests.count == 40)
    }

    @Test func `memory stays within its size, whatever is asked for`() throws {
        let big = try RawOrigin(
            answering: response(String(repeating: "x", count: 100_000), fields: "Cache-Control: max-age=600\r\n"))
        let pintle = try self.start("{memory: 1MiB, disk: off}")
        for number in 0..<40 {
            _ = try pintle.ask(get(big.port, "/\(number)"))
            let status = try self.run("status").lines.map(\.text).joined(separator: "\n")
            let words = status.split(separator: " ")
            let bytes = try #require(words.firstIndex(of: "bytes").flatMap { Int(words[$0 - 1]) })
            // Until a purge is over there is an eighth more, at most.
            #expect(bytes > 0 && bytes <= 9 << 17, "\(status)")
        }
    }

    @Test func `a late origin is answered for by the placeholder, and its answer is kept`() throws {
        let mayAnswer = Watched(false)
        let late = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try mayAnswer.wait(for: "the placeholder") { $0 }
            try connection.send(response("late", fields: "Cache-Control: max-age=600\r\n"))
            _ = try connection.waitForEnd()
        }
        _ = try self.folder.write(Array("soon".utf8), to: "soon.txt")
        let pintle = try PintleProcess(
            """
            cache: {disk: off}
            routes:
              - name: slow
                cache: {policy: protocol}
                coalesce: {}
                response: {placeholder: {file: soon.txt, status: 203}, placeholder_after: 50ms}
            """, folder: self.folder)
        let first = try pintle.ask(get(late.port))
        #expect(first.head.status == 203 && first.text == "soon" && first["Cache-Control"] == "no-store")
        mayAnswer.change { $0 = true }
        // The placeholder again, or the late answer as it comes, until that one is kept.
        var next = try pintle.ask(get(late.port))
        while next["Cache-Status"]?.contains(";hit") != true { next = try pintle.ask(get(late.port)) }
        #expect(next.text == "late" && late.requests.count == 1)
        let line = try pintle.waitForExchanges(1)[0]
        #expect((line["error"] as? String)?.contains("had not answered after 50ms") == true)
    }
}
