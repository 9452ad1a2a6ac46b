// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleMessage
import PintleSession
import PintleTesting

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

/// Returns a stream of a body: `pieces`, then the end.
func pieces(_ pieces: [UInt8]...) -> AsyncStream<ByteBuffer> {
    AsyncStream { feed in
        for piece in pieces { feed.yield(ByteBuffer(bytes: piece)) }
        feed.finish()
    }
}
