// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Transferred bytes are never held in memory: each transfer has its own process, and that process's memory is measured.
///
/// The size is 64 MiB, or that in PINTLE_SOAK, in MiB: `PINTLE_SOAK=5120 swift test --filter MemoryTests`.
@Suite(
    .serialized,
    .disabled(if: runsUnderSanitizer, "sanitizers keep memory of their own"))
struct MemoryTests {
    /// Size in bytes.
    private static var size: Int {
        (ProcessInfo.processInfo.environment["PINTLE_SOAK"].flatMap { Int($0) } ?? 64) << 20
    }

    @Test func `a large download needs little memory`() async throws {
        let origin = try NginxOrigin()
        try origin.serve([], as: "big")
        try origin.growServed("big", to: Self.size)
        let folder = try TemporaryFolder()
        let (port, path, size) = (origin.httpPort, folder.path("out"), Self.size)
        let exit = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [port = port as Int, path = path as String, size = size as Int] in
            let stage = try SessionStage()
            try await Self.measure("download", size) {
                _ = try await stage.session.download(request(port, "/files/big"), to: .file(path))
            }
        }
        passOn(exit)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == size)
    }

    @Test func `a large upload needs little memory`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([], to: "up")
        try folder.grow("up", to: Self.size)
        let size = Self.size
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequestHead()
                var count = 0
                while count < size, let piece = try connection.stream.readSome() {
                    count += piece.count
                    connection.stream.forgetTaken()
                }
                try connection.send(response("\(count)"))
            }
        }
        let exit = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [port = origin.port as Int, path = path as String, size = size as Int] in
            let stage = try SessionStage()
            try await Self.measure("upload", size) {
                let result = try await stage.session.data(
                    for: request(port, method: "PUT"), from: .file(path: path))
                #expect(String(buffer: result.body) == "\(size)")
            }
        }
        passOn(exit)
    }

    /// Runs `work` and fails if it needed much memory.
    private static func measure(_ what: String, _ size: Int, _ work: () async throws -> Void) async throws {
        ProcessFigures.resetPeak()
        let before = ProcessFigures.memory
        let time = try await ContinuousClock().measure { try await work() }
        let peak = ProcessFigures.peakMemory
        note("\(what) of \(size >> 20) MiB: \(before) KiB resident before, \(peak) KiB at most, in \(time)")
        // The process itself, with the whole test suite in it, has its memory before.
        #expect(peak - before < 24 << 10)
    }
}
