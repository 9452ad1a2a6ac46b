// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOCore
import PintleLoop
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Signals that interrupt system calls, in a separate process.
struct SignalTests {
    @Test func `interrupted system calls harm no transfer`() async throws {
        let origin = try NginxOrigin()
        let bytes = sampleBytes(8 << 20)
        try origin.serve(bytes, as: "big")
        let folder = try TemporaryFolder()
        let up = try folder.write(bytes, to: "up")
        await #expect(processExitsWith: .success) {
            [port = origin.httpPort as Int, up = up as String, out = folder.path("out") as String] in
            // Without SA_RESTART, so that every call that can be interrupted is.
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in }
            sigaction(SIGUSR1, &action, nil)
            let stage = try SessionStage()
            // Dispatch's threads, on which files are read and written, take no signals.
            let thread = try await stage.engine.loops[0].submit { pthread_self() }.get()
            let (isOver, count) = (Watched(false), Watched(0))
            Thread.detachNewThread {
                while !isOver.current {
                    pthread_kill(thread, SIGUSR1)
                    count.change { $0 += 1 }
                }
            }
            for _ in 0..<5 {
                _ = try await stage.session.download(request(port, "/files/big"), to: .file(out))
                _ = try await stage.session.data(
                    for: request(port, "/store/up", method: "PUT"), from: .file(path: up))
            }
            isOver.change { $0 = true }
            #expect(count.current > 100)
        }
        #expect(folder.bytes("out") == bytes && origin.stored("up") == bytes)
    }
}
