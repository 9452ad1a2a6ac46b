// SPDX-License-Identifier: Apache-2.0

import Foundation
import Pintle

struct PintleClient: Client {
    private let api: HTTPSession

    init(base: String, authority: String?) throws {
        var policy = SecurityPolicy.default
        if let authority {
            let pem = try Array(Data(contentsOf: URL(fileURLWithPath: authority)))
            policy = try SecurityPolicy(pinning: .none, roots: .only(Certificate.load(pem: pem, file: authority)))
        }
        self.api = try HTTPSession(base: base, policy: policy)
    }

    func get(_ path: String) async throws -> Int { try await self.api.get(path).value.count }

    func stream(_ path: String) async throws -> Int {
        let response = try await self.api.stream(path)
        try UnexpectedAnswer.check(status: Int(response.head.status))
        var count = 0
        for try await piece in response.body { count += piece.readableBytes }
        return count
    }

    func download(_ path: String, to file: String) async throws { try await self.api.download(path, to: .file(file)) }

    func upload(_ path: String, from file: String) async throws {
        try await self.api.put(path, body: .file(file))
    }

    func close() async throws { await self.api.session.finishTasksAndInvalidate() }
}
