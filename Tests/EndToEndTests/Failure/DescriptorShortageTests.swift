// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// A process that may have few files open: it refuses what it can, and keeps the last descriptors for what it cannot do without.
struct DescriptorShortageTests {
    @Test func `more clients than descriptors do not end the process`() throws {
        let body = String(repeating: "x", count: 300_000)
        let origin = try ScriptedOrigin(
            answering: response(body, fields: "Cache-Control: max-age=1\r\nConnection: close\r\n"))
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess(
            "cache: {memory: 1MiB, disk: 8MiB}\nroutes: [{name: kept, cache: {policy: protocol}, coalesce: {}}]",
            folder: folder, by: ["/bin/sh", "-c", "ulimit -n 128; exec \"$@\"", "sh"])
        // The system takes those that the process does not.
        let idle = try (0..<150).map { _ in try pintle.connect() }
        // It stops at the first of those that it keeps, of which others take some for a moment.
        while try pintle.openDescriptors() < 90 {}
        #expect(try pintle.openDescriptors() < 112)
        for client in idle { client.reset() }
        for number in 0..<20 {
            let answer = try pintle.ask(get(origin.port, "/\(number)"))
            #expect(answer.head.status == 200 && answer.text == body)
        }
        #expect(try pintle.stop() == 0)
    }
}
