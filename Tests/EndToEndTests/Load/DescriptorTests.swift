// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// A process that has no descriptor left neither dies nor spins.
@Suite(.tags(.load)) struct DescriptorTests {
    @Test func `clients wait for a descriptor, and are served when there is one`() throws {
        let origin = try RawOrigin(answering: response("here"))
        let pintle = try PintleProcess("engine: {threads: 1}", descriptors: 48)
        // More than there are descriptors; the kernel takes in all of them.
        var clients = try (0..<64).map { _ in try pintle.connect() }
        let before = try pintle.processorTicks()
        let waiting = try Curl.run(proxy: pintle.port, "--max-time", "2", "http://127.0.0.1:\(origin.port)/")
        #expect(waiting.exitCode == 28, "\(waiting.exitCode) \(waiting.errors)")
        // 100 ticks are a second of a processor: who asks again and again uses all of it.
        let spent = try pintle.processorTicks() - before
        #expect(spent < 100)
        clients.removeAll()
        let served = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        #expect(served.status == 200, "\(served.exitCode) \(served.errors)")
    }

    @Test func `a request for which there is no descriptor is overloaded`() throws {
        let pintle = try PintleProcess("engine: {threads: 1}\nlimits: {header_timeout: 5m}", descriptors: 48)
        let request = Array(get(try FreePort.find()).utf8)
        // A descriptor may be free for a moment even when all seem to be in use. The request that finds it is refused by
        // the origin's port, and its connection, idle from then on, makes room for one that waits.
        let clients = try (0..<8).map { _ in try pintle.connect() }
        for client in clients { try client.send(Array(request.prefix(20))) }
        // None has asked for anything yet, so that none is closed as idle. One waits with the first descriptor of the reserve,
        // number 36. Below it all are in use, one of them by the thread that accepts for `pintle status` and shows no file yet.
        let others = try (0..<64).map { _ in try pintle.connect() }
        try Patience.wait(for: "all descriptors to be in use") {
            let files = try pintle.openFiles().filter { $0.key <= 36 }
            // A file of /proc is open for a moment.
            return files[36] != nil && files.count >= 36 && !files.values.contains { $0.hasPrefix("/proc/") }
        }
        var answers: [Message] = []
        for client in clients where answers.last.map({ $0.status == 502 }) ?? true {
            try client.send(Array(request.dropFirst(20)))
            answers.append(try client.readResponse())
        }
        let overloaded = try #require(answers.last)
        for other in others { other.reset() }
        #expect(overloaded.status == 503)
        #expect(overloaded.text.contains("urn:pintle:problem:overloaded"))
        #expect(overloaded["Retry-After"] == "1")
    }

    @Test func `a limit of open files below that of connections is told of`() throws {
        let pintle = try PintleProcess(log: "{format: text, exchanges: off}", descriptors: 100)
        try pintle.process.waitForLine("the warning") {
            $0.contains("limits.connections (4096) needs up to 8256 open files, and this process may have 100")
        }
    }
}
