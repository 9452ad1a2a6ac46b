// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding
package import PintleMessage
internal import PintleSerialization

/// The codings that a session asks for, and those that it removes.
extension Session {
    private static let accepted = ContentCoding.allCases.map(\.rawValue).joined(separator: ", ")

    private func decompression(of request: SessionRequest) -> Decompression {
        request.decompression ?? self.configuration.decompression
    }

    /// Asks for a body in content codings; or without any if `isResumable`, as the rest of the body may have to be
    /// requested later. Does nothing if the caller asks for codings or a range, or if the body is not decoded.
    package func askForCodings(in request: inout SessionRequest, isResumable: Bool) {
        guard self.decompression(of: request).isOn, request.method != "HEAD", !request.fields.contains("Range"),
            !request.fields.contains("Accept-Encoding"),
            !self.configuration.additionalFields.contains("Accept-Encoding")
        else { return }
        request.fields.append("Accept-Encoding", isResumable ? "identity" : Self.accepted)
    }

    /// Returns the decoder of a response's body; nil if the body is used as it was sent.
    func decoding(
        of head: ResponseHead, to request: SessionRequest
    ) throws(SessionError) -> BodyDecoding? {
        guard head.status != 206, let codings = self.codings(of: head, to: request) else { return nil }
        return try BodyDecoding(codings, from: request.url.authority, self.decompression(of: request))
    }

    /// True if the response has codings that the session removes from whole bodies; a part of a body (206) counts too.
    package func isCoded(_ head: ResponseHead, to request: SessionRequest) -> Bool {
        self.codings(of: head, to: request) != nil
    }

    /// Returns the codings that the session removes; nil if there are none.
    private func codings(of head: ResponseHead, to request: SessionRequest) -> [ContentCoding]? {
        guard head.fields.contains(.contentEncoding), self.decompression(of: request).isOn,
            !head.forbidsBody(to: request.method), let codings = try? head.fields.contentCodings(), !codings.isEmpty
        else { return nil }
        return codings
    }
}

extension ResponseHead {
    /// Returns the head of the decoded body: without the fields that describe the bytes as they were sent.
    func withoutCodings() -> ResponseHead {
        var head = self
        for name in ["Content-Encoding", "Content-Length", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest"] {
            head.fields.remove(name)
        }
        return head
    }
}
