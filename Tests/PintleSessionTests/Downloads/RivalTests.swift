// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Downloads to the same file.
@Suite(.timeLimit(.minutes(15))) struct RivalTests {
    @Test func `two downloads to one file do not mix: the second is refused`() async throws {
        let folder = try TemporaryFolder()
        let goesOn = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhel")
            try goesOn.wait(for: "the rest to be wanted") { $0 }
            try connection.send("lo\n")
        }
        let stage = try SessionStage()
        let first = try stage.session.downloadTask(request(origin.port), to: .file(folder.path("out")))
        let progress = first.progressStream
        first.resume()
        for await step in progress where step.received == 3 { break }
        let error = await sessionError {
            _ = try await stage.session.download(request(origin.port), to: .file(folder.path("out")))
        }
        #expect(error?.description == "\(folder.path("out.part")) is being written by another download")
        #expect(origin.connections.count == 1)
        goesOn.change { $0 = true }
        _ = try await first.value()
        #expect(folder.bytes("out") == Array("hello\n".utf8) && folder.names == ["out"])
    }

    /// The downloads open, lock, move and remove the same names at the same time; each result must be one response.
    @Test func `a crowd of downloads to one file leaves a whole one, whatever their order`() async throws {
        let folder = try TemporaryFolder()
        let origin = try NginxOrigin()
        let bytes = sampleBytes(200_000)
        try origin.serve(bytes, as: "big")
        let engine = try Engine(threads: 4)
        defer { engine.stop() }
        let stage = try SessionStage(sharing: engine)
        let wrong = Watched<[String]>([])
        let whole = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    var count = 0
                    for _ in 0..<25 {
                        let error = await sessionError {
                            _ = try await stage.session.download(
                                request(origin.httpPort, "/files/big"), to: .file(folder.path("out")))
                        }
                        if error == nil { count += 1 }
                        if let error, !error.message.hasSuffix("is being written by another download") {
                            wrong.change { $0.append("\(error)") }
                        }
                        if error == nil, let found = folder.bytes("out"), found != bytes {
                            wrong.change { $0.append("\(found.count) bytes are in the file") }
                        }
                    }
                    return count
                }
            }
            return await group.reduce(0, +)
        }
        #expect(whole > 0 && wrong.current == [] && folder.names == ["out"])
    }
}
