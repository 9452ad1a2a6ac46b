// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage
internal import PintleSession

/// The body of a stored response, as a session gets it.
struct WholeBody: Sendable {
    let bytes: ByteBuffer
    /// True if the body has lost its codings; the validators belong to the coded form.
    let isDecoded: Bool
}

/// The types of the library's cache, which has no clients that wait.
enum PrivateCacheHost: CacheHost {
    typealias Body = WholeBody
    typealias Waiter = Never
    typealias Fetcher = Never

    /// The rules of a private cache.
    static let rules = {
        var rules = CacheRules()
        rules.isShared = false
        rules.targetedName = nil
        return rules
    }()
}

extension CacheEntry where Body == WholeBody {
    init(_ judged: JudgedResponse, _ body: WholeBody) {
        self.init(judged, body, bodyCost: body.bytes.storageCapacity)
    }

    /// The response to a request, after evaluating the request's own conditions and range.
    ///
    /// - Parameter age: in seconds; nil if the origin has just confirmed the response.
    /// - Returns: nil if the needed bytes are not stored, and for a range of a decoded body.
    func answer(to request: RequestHead, age: Int64?) -> CachedResponse? {
        if self.body.isDecoded, request.fields.contains("Range") { return nil }
        guard let answer = PrivateCacheHost.rules.answer(to: request, from: self.response, age: age) else { return nil }
        var head = answer.head
        if let length = answer.contentLength { head.fields.set("Content-Length", String(length)) }
        let bytes = self.body.bytes
        let body = answer.body.flatMap { range in
            bytes.getSlice(
                at: bytes.readerIndex + Int(range.lowerBound), length: Int(range.upperBound - range.lowerBound))
        }
        return CachedResponse(head: head, body: body ?? ByteBuffer())
    }

    /// The response with conditional fields for a validation. Nil if it has no validator, and for a request with conditions or
    /// a range of its own, which goes to the origin unchanged.
    func underConditions(of request: RequestHead) -> CachedResponse? {
        let own = ["If-None-Match", "If-Modified-Since", "If-Range", "Range"]
        guard !own.contains(where: { request.fields.contains($0) }),
            let fields = CacheRules.validation(of: self.response)
        else { return nil }
        return CachedResponse(head: self.response.head, body: self.body.bytes, conditions: fields)
    }
}

extension ByteBuffer {
    /// A copy with memory of its own: a slice would keep the whole receive buffer alive.
    var inOwnMemory: ByteBuffer {
        guard self.readableBytes > 0 else { return ByteBuffer() }
        var copy = ByteBufferAllocator().buffer(capacity: self.readableBytes)
        copy.writeImmutableBuffer(self)
        return copy
    }
}
