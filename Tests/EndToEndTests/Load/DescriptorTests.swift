// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// A process that has no descriptor left neither dies nor spins.
@Suite(.tags(.load)) struct DescriptorTests {
    @Test func `clients wait for a descriptor, and are served when there is one`() throws {
        let origin = try ScriptedOrigin(answering: response("here"))
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
        let pintle = try PintleProcess("engine: {threads: 1}", descriptors: 48)
        var clients: [SocketStream] = []
        let port = try FreePort.find()
        // The connection that takes the last descriptor is served, and finds none for its origin.
        var refusal: Message?
        for _ in 0..<64 where refusal == nil {
            let client = try pintle.connect()
            clients.append(client)
            try client.send(get(port))
            let answer = try client.readResponse()
            #expect(answer.status == 502 || answer.status == 503)
            if answer.status == 503 { refusal = answer }
        }
        let overloaded = try #require(refusal)
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
