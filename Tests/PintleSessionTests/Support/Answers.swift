// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleMessage
import PintleSession
import PintleTesting

/// A whole response of any status.
func answer(_ status: Int, _ fields: [String] = [], _ body: String = "") -> String {
    let lines = fields.map { "\($0)\r\n" }.joined()
    return "HTTP/1.1 \(status) Said\r\nContent-Length: \(body.utf8.count)\r\n\(lines)\r\n\(body)"
}

/// An origin that answers each request as `script` says, on connections that stay open.
func origin(_ script: @escaping @Sendable (Message) throws -> String) throws -> RawOrigin {
    try RawOrigin { connection in
        while true { try connection.send(script(connection.readRequest())) }
    }
}

extension TaskResult {
    var text: String { String(buffer: self.body) }
    var status: UInt16 { self.response.status }
}

extension Session {
    /// Waits for a whole response, and returns the error that there is instead.
    func failure(of request: SessionRequest, from source: UploadSource? = nil) async -> SessionError? {
        await sessionError { _ = try await self.data(for: request, from: source) }
    }
}

/// Functions of a session, called on its stage, which then lives as long as the answer takes.
extension SessionStage {
    func data(for request: SessionRequest, from source: UploadSource? = nil) async throws -> TaskResult {
        try await self.session.data(for: request, from: source)
    }

    func download(_ request: SessionRequest, to destination: DownloadDestination) async throws -> TaskResult {
        try await self.session.download(request, to: destination)
    }

    func failure(of request: SessionRequest, from source: UploadSource? = nil) async -> SessionError? {
        await self.session.failure(of: request, from: source)
    }
}

extension Array where Element == UInt8 {
    /// Bytes that no place confuses with another.
    static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) } }
}

/// Returns a stream of a body: `pieces`, then the end.
func pieces(_ pieces: [UInt8]...) -> AsyncStream<ByteBuffer> {
    AsyncStream { feed in
        for piece in pieces { feed.yield(ByteBuffer(bytes: piece)) }
        feed.finish()
    }
}

/// Returns the whole of a file; nil if it does not exist.
func contents(of path: String) -> [UInt8]? { fileBytes(path) }
