// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding
internal import PintleMessage

/// Codings that a session asks for, and those that it undoes.
extension Session {
    private static let accepted = ContentCoding.allCases.map(\.rawValue).joined(separator: ", ")

    private func decompression(of request: SessionRequest) -> Decompression {
        request.decompression ?? self.configuration.decompression
    }

    /// Asks for a body in codings, or, where `isResumable`, for one without: the rest of it may have to be asked for
    /// later. A request that says itself what it accepts stays as it is.
    func askForCodings(in request: inout SessionRequest, isResumable: Bool) {
        guard self.decompression(of: request).isOn, request.method != "HEAD", !request.fields.contains("Range"),
            !request.fields.contains("Accept-Encoding"),
            !self.configuration.additionalFields.contains("Accept-Encoding")
        else { return }
        request.fields.append("Accept-Encoding", isResumable ? "identity" : Self.accepted)
    }

    /// How the body of a response is decoded; nil where it is taken as it comes.
    func decoding(
        of head: ResponseHead, to request: SessionRequest
    ) throws(SessionError) -> BodyDecoding? {
        guard head.status != 206, let codings = self.codings(of: head, to: request) else { return nil }
        return try BodyDecoding(codings, from: request.url.authority, self.decompression(of: request))
    }

    /// True where a response is in codings that would be undone if it were no part of a body.
    func isCoded(_ head: ResponseHead, to request: SessionRequest) -> Bool {
        self.codings(of: head, to: request) != nil
    }

    /// - Returns: nil where there are none that are undone.
    private func codings(of head: ResponseHead, to request: SessionRequest) -> [ContentCoding]? {
        guard head.fields.contains(.contentEncoding), self.decompression(of: request).isOn,
            !head.forbidsBody(to: request.method), let codings = try? head.fields.contentCodings(), !codings.isEmpty
        else { return nil }
        return codings
    }
}

extension ResponseHead {
    /// The head of the body without its codings: without the fields that are about the bytes as they were sent.
    func withoutCodings() -> ResponseHead {
        var head = self
        for name in ["Content-Encoding", "Content-Length", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest"] {
            head.fields.remove(name)
        }
        return head
    }
}
