// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage
internal import PintleSession

/// A stored response with its body.
struct KeptResponse: Sendable {
    let judged: JudgedResponse
    let body: ByteBuffer
    /// The time when the origin got the request for it, or for its last validation.
    let askedFor: ContinuousClock.Instant
    /// True if the body has lost its codings; the validators belong to the coded form.
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

    /// The memory of its objects, and its share of the tables, in bytes; measured with small responses.
    private static let fixedCost = 2048
    /// The bytes that a field line takes in the table of its section.
    private static let lineCost = 16
    /// The bytes that a text or a value takes without its content: 16, and 32 for the object with the content.
    private static let textCost = 48

    /// The response to a request, after evaluating the request's own conditions and range.
    ///
    /// - Parameter age: in seconds; nil if the origin has just confirmed the response.
    /// - Returns: nil if the needed bytes are not stored, and for a range of a decoded body.
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

    /// The response with conditional fields for a validation. Nil if it has no validator, and for a request with conditions or
    /// a range of its own, which goes to the origin unchanged.
    func underConditions(of request: RequestHead) -> CachedResponse? {
        let own = ["If-None-Match", "If-Modified-Since", "If-Range", "Range"]
        guard !own.contains(where: { request.fields.contains($0) }),
            let fields = CacheRules.validation(of: self.response)
        else { return nil }
        return CachedResponse(head: self.response.head, body: self.body, conditions: fields)
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
