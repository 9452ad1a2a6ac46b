// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// The digest of the body of a response, as it was sent to the client.
package struct BodyDigest: Sendable, Hashable {
    /// SHA-256 of the content, with its content codings and without any framing; nil if it was not sent whole.
    package let sha256: [UInt8]?
    /// The values of Content-Encoding.
    package let codings: [String]

    package init(sha256: [UInt8]?, codings: [String] = []) { (self.sha256, self.codings) = (sha256, codings) }
}

/// Digests a body while it passes unchanged. Used on the event loop of its exchange.
struct DigestTap {
    private let digest = RunningDigest()
    private let codings: [String]

    /// - Parameter head: the head as the client gets it, but for fields of Pintle's own.
    /// - Returns: nil if the response has no body.
    init?(_ head: ResponseHead, to method: String) {
        if head.forbidsBody(to: method) { return nil }
        self.codings = head.fields.values(of: "Content-Encoding")
    }

    func take(_ piece: UnsafeRawBufferPointer) { self.digest.take(piece) }

    /// - Parameter isWhole: true if the body has ended as it should.
    func finish(isWhole: Bool) -> BodyDigest {
        BodyDigest(sha256: isWhole ? self.digest.finish() : nil, codings: self.codings)
    }
}
