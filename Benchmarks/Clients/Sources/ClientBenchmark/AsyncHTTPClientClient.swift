// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOSSL
import _NIOFileSystem

struct AsyncHTTPClientClient: Client {
    private let client: HTTPClient
    private let base: String

    init(base: String, authority: String?) {
        self.base = base
        var configuration = HTTPClient.Configuration()
        if let authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(authority)
            configuration.tlsConfiguration = tls
        }
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func get(_ path: String) async throws -> Int {
        let response = try await self.client.execute(HTTPClientRequest(url: self.base + path), timeout: .seconds(30))
        try UnexpectedAnswer.check(status: Int(response.status.code))
        return try await response.body.collect(upTo: 1 << 20).readableBytes
    }

    func stream(_ path: String) async throws -> Int {
        let response = try await self.client.execute(HTTPClientRequest(url: self.base + path), timeout: .seconds(600))
        try UnexpectedAnswer.check(status: Int(response.status.code))
        var count = 0
        for try await piece in response.body { count += piece.readableBytes }
        return count
    }

    func download(_ path: String, to file: String) async throws {
        let request = try HTTPClient.Request(url: self.base + path)
        let delegate = try FileDownloadDelegate(path: file)
        _ = try await self.client.execute(request: request, delegate: delegate).get()
    }

    func upload(_ path: String, from file: String) async throws {
        try await FileSystem.shared.withFileHandle(forReadingAt: FilePath(file)) { handle in
            let size = try await handle.info().size
            var request = HTTPClientRequest(url: self.base + path)
            request.method = .PUT
            request.body = .stream(handle.readChunks(), length: .known(size))
            let response = try await self.client.execute(request, timeout: .seconds(600))
            try UnexpectedAnswer.check(status: Int(response.status.code))
            _ = try await response.body.collect(upTo: 1 << 20)
        }
    }

    func close() async throws { try await self.client.shutdown() }
}
