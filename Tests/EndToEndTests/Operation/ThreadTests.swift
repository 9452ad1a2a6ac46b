// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

@Suite struct ThreadTests {
    /// Returns the number of engine threads of a process.
    private static func engineThreads(of process: ChildProcess) throws -> Int {
        let folder = "/proc/\(process.pid)/task"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).map {
            try String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8)
        }
        return names.count { $0.wholeMatch(of: /pintle-[0-9]+\n/) != nil }
    }

    @Test func `LOOK-55 auto is a thread for each processor that the process may use`() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let processor = try #require(status.firstMatch(of: /Cpus_allowed_list:\s*([0-9]+)/)?.output.1)
        let one = try PintleProcess("engine: {threads: auto}", processors: String(processor))
        #expect(try Self.engineThreads(of: one.process) == 1)
        // A number is taken at its word.
        let three = try PintleProcess("engine: {threads: 3}", processors: String(processor))
        #expect(try Self.engineThreads(of: three.process) == 3)
    }
}
