// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// A process with a low limit on open files: it refuses connections if it can, and reserves its last descriptors for
/// necessary work.
struct DescriptorShortageTests {
    @Test func `more clients than descriptors do not end the process`() throws {
        let body = String(repeating: "x", count: 300_000)
        let origin = try RawOrigin(
            answering: response(body, fields: "Cache-Control: max-age=1\r\nConnection: close\r\n"))
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess(
            "cache: {memory: 1MiB, disk: 8MiB}\nroutes: [{name: kept, cache: {policy: protocol}, coalesce: {}}]",
            folder: folder, by: ["/bin/sh", "-c", "ulimit -n 128; exec \"$@\"", "sh"])
        // The system takes those that the process does not.
        let idle = try (0..<150).map { _ in try pintle.connect() }
        // The process stops at the first reserved descriptor; other work takes some of those for a moment.
        try Patience.wait(for: "the descriptors to be taken") { try pintle.openDescriptors() >= 90 }
        #expect(try pintle.openDescriptors() < 112)
        for client in idle { client.reset() }
        for number in 0..<20 {
            let answer = try pintle.ask(get(origin.port, "/\(number)"))
            #expect(answer.head.status == 200 && answer.text == body)
        }
        #expect(try pintle.stop() == 0)
    }

    /// Nothing is closed for being idle.
    private let patient = "limits: {idle_timeout: 1h}\nengine: {idle_timeout: 1h}"

    @Test(.timeLimit(.minutes(5))) func `clients that ask nothing make room for others`() throws {
        let origin = try RawOrigin(answering: response("here"))
        let pintle = try PintleProcess(self.patient, descriptors: 64)
        // More than fit: the first ones stay open, with nothing asked.
        let clients = try (0..<60).map { number in
            let client = try pintle.connect()
            try client.send(get(origin.port, "/\(number)"))
            #expect(try client.readResponse(to: "GET").text == "here")
            return client
        }
        for client in clients { client.reset() }
        #expect(try pintle.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5))) func `connections to origins that carry nothing make room for others`() throws {
        let origins = try (0..<60).map { _ in try RawOrigin(answering: response("here")) }
        let pintle = try PintleProcess(self.patient, descriptors: 64)
        for origin in origins { #expect(try pintle.ask(get(origin.port, "/")).text == "here") }
        #expect(try pintle.stop() == 0)
    }
}
