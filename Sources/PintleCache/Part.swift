// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The part of a representation in a 206 (RFC 9110 §15.3.7).
struct Part {
    /// The bytes of the part.
    let range: Range<UInt64>
    /// The length of the representation, in bytes.
    let whole: UInt64

    /// Reads the head of a 206 that can be stored by itself.
    ///
    /// - Returns: nil if the request has no Range, if there are several parts, if the complete length or a strong validator is
    ///   missing, or if the request had If-Range: the origin may then omit fields that the client already has (RFC 9110
    ///   §15.3.7).
    init?(of head: ResponseHead, to request: RequestHead) {
        guard !request.fields.contains("If-Range"), Validators.strong(head.fields) != nil else { return nil }
        self.init(completing: head, to: request)
    }

    /// Reads the head of a 206 that may complete a stored response.
    init?(completing head: ResponseHead, to request: RequestHead) {
        let values = head.fields.values(of: "Content-Range")
        guard head.status == 206, request.fields.contains("Range"), values.count == 1,
            case .bytes(let range, let whole?) = ContentRange(values[0])
        else { return nil }
        (self.range, self.whole) = (range, whole)
    }
}
