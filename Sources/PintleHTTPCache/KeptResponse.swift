// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage
internal import PintleSession

/// A stored response with its body.
struct KeptResponse: Sendable {
    let judged: JudgedResponse
    let body: ByteBuffer
    /// When the origin was asked for it, or has confirmed it last.
    let askedFor: ContinuousClock.Instant
    /// True for a body that came in codings, which the validators are about.
    let isDecoded: Bool
    /// The memory that it takes, in bytes.
    let cost: Int

    init(_ judged: JudgedResponse, _ body: ByteBuffer, isDecoded: Bool, askedFor time: ContinuousClock.Instant) {
        (self.judged, self.body, self.isDecoded, self.askedFor) = (judged, body, isDecoded, time)
        let (head, response) = (judged.response.head, judged.response)
        var cost = Self.fixedCost + body.storageCapacity + head.reason.utf8.count
        cost += head.fields.byteCount + head.fields.count * Self.lineCost
        for field in response.selecting {
            cost += 2 * Self.textCost + field.name.utf8.count + (field.value?.count ?? 0)
        }
        for tag in response.tags { cost += Self.textCost + tag.utf8.count }
        self.cost = cost
    }

    var response: StoredResponse { self.judged.response }

    /// The objects around it, and its share of the tables, as measured with responses of a few bytes.
    private static let fixedCost = 2048
    /// The place of a field line in its section.
    private static let lineCost = 16
    /// A text or a value without its bytes: 16 bytes, and 32 for the object that has them.
    private static let textCost = 48

    /// The answer to a request, whose own conditions and range are judged.
    ///
    /// - Parameter age: in seconds; nil where the origin has just confirmed the response.
    /// - Returns: nil for a part of what was decoded.
    func answer(to request: RequestHead, age: Int64?) -> CachedResponse? {
        if self.isDecoded, request.fields.contains("Range") { return nil }
        guard let answer = CacheRules.ofOneUser.answer(to: request, from: self.response, age: age) else { return nil }
        var head = answer.head
        if let length = answer.contentLength { head.fields.set("Content-Length", String(length)) }
        let body = answer.body.flatMap { range in
            self.body.getSlice(
                at: self.body.readerIndex + Int(range.lowerBound), length: Int(range.upperBound - range.lowerBound))
        }
        return CachedResponse(head: head, body: body ?? ByteBuffer())
    }

    /// The response with the conditions under which it answers; nil where it has no validator, and for a request with
    /// conditions or a range of its own, which goes to the origin as it is.
    func underConditions(of request: RequestHead) -> CachedResponse? {
        let own = ["If-None-Match", "If-Modified-Since", "If-Range", "Range"]
        guard !own.contains(where: { request.fields.contains($0) }),
            let fields = CacheRules.validation(of: self.response)
        else { return nil }
        return CachedResponse(head: self.response.head, body: self.body, conditions: fields)
    }
}

extension ByteBuffer {
    /// The same bytes in memory of their own: a slice would keep the whole buffer that they came in.
    var inOwnMemory: ByteBuffer {
        guard self.readableBytes > 0 else { return ByteBuffer() }
        var copy = ByteBufferAllocator().buffer(capacity: self.readableBytes)
        copy.writeImmutableBuffer(self)
        return copy
    }
}
