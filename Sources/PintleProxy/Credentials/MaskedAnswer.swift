// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCoding
internal import PintleMessage
internal import PintlePolicy

/// An answer that may repeat the values of credentials, on its way to the client: decoded, and masked.
final class MaskedAnswer {
    private var mask: EchoMask
    /// Nil for an answer without codings.
    private var decoder: ContentDecoder?
    /// The bytes that have come and were not passed on.
    private var waiting = ByteBuffer()
    /// True if the decoder has more although it has taken all bytes.
    private var hasMore = false

    /// About the decoded bytes of a step.
    private static let step = 128 << 10

    init(_ mask: EchoMask) { self.mask = mask }

    /// True if a further step has something to do.
    var isBehind: Bool { self.hasMore || self.waiting.readableBytes > 0 }

    /// The bytes in memory.
    var heldBytes: Int { self.waiting.readableBytes + (self.decoder?.memory ?? 0) }

    func masked(_ fields: Fields) -> Fields { self.mask.masked(fields) }

    func masked(_ head: ResponseHead) -> ResponseHead {
        var masked = head
        (masked.fields, masked.reason) = (self.mask.masked(head.fields), self.mask.masked(head.reason))
        return masked
    }

    /// Prepares for the codings of an answer with a body, and removes them from its head.
    ///
    /// - Returns: false if there are none.
    /// - Throws: an error if one of them is not known: what it hides could not be masked.
    func decode(_ head: inout ResponseHead) throws(ContentDecodingError) -> Bool {
        // Origins were asked for none.
        guard head.fields[.contentEncoding] != nil else { return false }
        let codings = try ContentCoding.codings(in: head.fields.values(of: "Content-Encoding"))
        // Nothing, or `identity`.
        guard !codings.isEmpty else { return false }
        self.decoder = try ContentDecoder(codings, limit: .max)
        head.fields.remove(.contentEncoding)
        head.fields.remove(.contentLength)
        // It is another representation (RFC 9110 §8.8.3).
        if let tag = head.fields["ETag"], !tag.hasPrefix("W/") { head.fields.set("ETag", "W/\(tag)") }
        return true
    }

    /// True if bytes need no decoding, and none wait.
    var passesAtOnce: Bool { self.decoder == nil && self.waiting.readableBytes == 0 }

    /// Passes on bytes without a copy. Call this only while ``passesAtOnce`` is true.
    func pass(_ bytes: UnsafeRawBufferPointer, _ pass: (UnsafeRawBufferPointer) -> Void) { self.mask.take(bytes, pass) }

    func take(_ bytes: UnsafeRawBufferPointer) { self.waiting.writeBytes(bytes) }

    /// Passes on a part of what waits.
    func step(_ pass: (UnsafeRawBufferPointer) -> Void) throws(ContentDecodingError) {
        var waiting = ByteBuffer()
        swap(&waiting, &self.waiting)
        guard let decoder else {
            waiting.withUnsafeReadableBytes { self.mask.take($0, pass) }
            return
        }
        var decoded = ByteBuffer()
        let result: (taken: Int, progress: Result<ContentDecoder.Progress, ContentDecodingError>) =
            waiting.withUnsafeReadableBytes { bytes in
                var rest = bytes
                let progress = Result { () throws(ContentDecodingError) in
                    try decoder.decode(&rest, atMost: Self.step) {
                        decoded.writeBytes($0)
                        return true
                    }
                }
                return (bytes.count - rest.count, progress)
            }
        waiting.moveReaderIndex(forwardBy: result.taken)
        self.waiting = waiting
        decoded.withUnsafeReadableBytes { self.mask.take($0, pass) }
        self.hasMore = try result.progress.get() == .more
    }

    /// Passes on the rest of an answer that has ended.
    func finish(_ pass: (UnsafeRawBufferPointer) -> Void) throws(ContentDecodingError) {
        try self.decoder?.finish()
        self.mask.finish(pass)
    }
}
