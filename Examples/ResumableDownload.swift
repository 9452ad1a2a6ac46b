// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Pintle

/// Downloads to a file. If Ctrl-C or the limit of `limit` bytes stops it early, the partial file stays, and the next run
/// requests the rest.
func download(_ url: String, to path: String, stoppingAfter limit: UInt64) async throws {
    let engine = try Engine(threads: 1)
    let session = try Session(engine: engine)
    let task = try session.downloadTask(SessionRequest("GET", url), to: .file(path))

    // The source gets the signal only if its default action, the end of the program, is disabled.
    signal(SIGINT, SIG_IGN)
    let interrupt = DispatchSource.makeSignalSource(signal: SIGINT)
    interrupt.setEventHandler { task.cancel() }
    interrupt.resume()
    defer { interrupt.cancel() }

    task.resume()
    var shown = -1
    for await progress in task.progressStream {
        if progress.received >= limit { task.cancel() }
        let percent = Int((progress.fractionReceived ?? 0) * 100)
        guard percent > shown else { continue }
        shown = percent
        FileHandle.standardError.write(Data("\(percent) %, \(progress.received) bytes\n".utf8))
    }

    do {
        let result = try await task.value()
        let was = result.response.status == 206 ? "resumed" : "downloaded"
        print("\(was): \(result.file ?? path), \(task.progress.received) bytes")
    } catch {
        guard error.code == .cancelled else { throw error }
        print("stopped: \(task.partialDownload?.offset ?? 0) bytes are kept; run again for the rest")
    }

    await session.finishTasksAndInvalidate()
    engine.stop()
}
