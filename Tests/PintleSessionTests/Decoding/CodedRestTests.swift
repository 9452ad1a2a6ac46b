// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Downloads that may have to be resumed: no coding is requested, and a coded answer cannot be resumed.
@Suite(.timeLimit(.minutes(15))) struct CodedRestTests {
    private let folder: TemporaryFolder
    private let plain = sampleBytes(500_000)

    init() throws { self.folder = try TemporaryFolder() }

    @Test func `a download to a file asks for the bytes as they are, and goes on with them`() async throws {
        let plain = self.plain
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let rest = request["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
                let range = "Content-Range: bytes \(rest)-\(plain.count - 1)/\(plain.count)\r\n"
                try connection.send(
                    "HTTP/1.1 \(rest > 0 ? "206 Part" : "200 OK")\r\nETag: \"1\"\r\n\(rest > 0 ? range : "")"
                        + "Content-Length: \(plain.count - rest)\r\n\r\n")
                try connection.stream.send(Array(plain[rest...].prefix(rest > 0 ? .max : 200_000)))
                if rest == 0 { return }
            }
        }
        let stage = try SessionStage()
        let destination = DownloadDestination.file(self.folder.path("out"))
        #expect(
            await sessionError { _ = try await stage.download(request(origin.port), to: destination) }?.code
                == .truncated)
        let result = try await stage.download(request(origin.port), to: destination)
        #expect(result.status == 206 && self.folder.bytes("out") == self.plain)
        #expect(origin.requests.map { $0["Accept-Encoding"] } == ["identity", "identity"])
    }

    @Test func `a coded body that comes unasked is decoded, and leaves no part`() async throws {
        let coded = try Coding.gzip.encode(self.plain)
        let isCut = Watched(true)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            let count = isCut.current ? coded.count / 2 : coded.count
            try connection.send(
                "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n")
            try connection.stream.send(Array(coded.prefix(count)))
        }
        let stage = try SessionStage()
        let task = try stage.session.downloadTask(request(origin.port), to: .file(self.folder.path("out")))
        task.resume()
        #expect(await sessionError { _ = try await task.value() }?.code == .truncated)
        #expect(task.partialDownload == nil && self.folder.names == [])
        isCut.change { $0 = false }
        _ = try await stage.download(request(origin.port), to: .file(self.folder.path("out")))
        #expect(self.folder.bytes("out") == self.plain)
        #expect(origin.requests.map { $0["Range"] } == [nil, nil])
    }

    @Test func `a coded rest is not put behind plain bytes`() async throws {
        let coded = try Coding.gzip.encode(self.plain)
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                guard request["Range"] != nil else {
                    try connection.send(
                        "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: \(self.plain.count)\r\n\r\n")
                    try connection.stream.send(self.plain)
                    continue
                }
                try connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"v1\"\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count - 1000)"
                        + "\r\nContent-Range: bytes 1000-\(coded.count - 1)/\(coded.count)\r\n\r\n")
                try connection.stream.send(Array(coded.dropFirst(1000)))
            }
        }
        try LeftOver(in: self.folder, of: origin.port).write(Array(self.plain.prefix(1000)))
        let stage = try SessionStage()
        _ = try await stage.download(request(origin.port, "/big"), to: .file(self.folder.path("out")))
        #expect(self.folder.bytes("out") == self.plain)
        #expect(origin.requests.map { $0["Range"] } == ["bytes=1000-", nil])
    }

    @Test func `an operation asks for the bytes as they are, and a coded one begins again after a pause`() async throws
    {
        let coded = try Coding.gzip.encode(self.plain)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n")
            try connection.stream.send(Array(coded.prefix(connection.number == 0 ? coded.count / 2 : coded.count)))
            if connection.number == 0 { _ = try connection.waitForEnd() }
        }
        let stage = try SessionStage()
        let operation = TransferOperation(request(origin.port), in: stage.session)
        operation.start()
        for await step in operation.progressStream where step.received >= 500 { break }
        operation.pause()
        operation.resume()
        let result = try await operation.value()
        #expect(Array(result.body.readableBytesView) == self.plain && result.contentCodings == ["gzip"])
        #expect(origin.requests.map { $0["Accept-Encoding"] } == ["identity", "identity"])
        #expect(origin.requests.map { $0["Range"] } == [nil, nil])
        let upload = TransferOperation(
            request(origin.port, method: "POST"), in: stage.session, from: .bytes(ByteBuffer(string: "x")))
        upload.start()
        #expect(try await upload.value().contentCodings == ["gzip"])
        #expect(origin.requests.last?["Accept-Encoding"] == "gzip, deflate, br, zstd")
    }
}
