// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleHTTPCache
import PintleMessage
import PintleSession
import PintleTesting

/// A cache and its clock.
struct CacheStage {
    let cache: HTTPCache
    private let clock = Watched(CacheTime(seconds: 1_767_225_600))

    init(capacity: Int = 20 << 20, preferredUsageAfterPurge: Int = 12 << 20) {
        self.cache = HTTPCache(
            capacity: capacity, preferredUsageAfterPurge: preferredUsageAfterPurge, pressure: nil,
            clock: { [clock] in clock.current })
    }

    /// Lets seconds pass.
    func pass(_ seconds: Int64) { self.clock.change { $0 = $0 + seconds } }

    func url(_ path: String) throws -> HTTPURL { try HTTPURL("http://origin.test\(path)") }

    private func request(_ path: String, _ fields: Fields = Fields(), method: String = "GET") throws -> SessionRequest {
        SessionRequest(method, try self.url(path), fields: fields)
    }

    func store(
        _ path: String, _ fields: Fields, _ body: String, status: UInt16 = 200, request: Fields = Fields(),
        requestTime: ContinuousClock.Instant = .now
    ) async throws {
        let head = ResponseHead(status: status, fields: fields)
        await self.cache.store(
            CachedResponse(head: head, body: ByteBuffer(string: body), requestTime: requestTime),
            to: try self.request(path, request))
    }

    /// Returns the cache's answer for a path; nil if the request is invalid.
    func ask(
        _ path: String, fields: Fields = Fields(), _ policy: CachePolicy = .protocol
    ) async -> CachedResponse? {
        guard let request = try? self.request(path, fields) else { return nil }
        return await self.cache.response(to: request, policy: policy)
    }

    /// Makes the origin confirm a response of `/a` with a 304.
    func confirm(_ response: CachedResponse, by fields: Fields) async throws -> CachedResponse? {
        var response = response
        response.requestTime = .now
        let head = ResponseHead(status: 304, fields: fields)
        return await self.cache.confirmed(response, by: head, to: try self.request("/a"))
    }

    func invalidate(_ method: String, _ path: String, _ status: UInt16, _ fields: Fields = Fields()) async throws {
        let head = ResponseHead(status: status, fields: fields)
        await self.cache.invalidate(after: head, to: try self.request(path, method: method), requestTime: .now)
    }
}

extension CachedResponse {
    var text: String { String(buffer: self.body) }
}
