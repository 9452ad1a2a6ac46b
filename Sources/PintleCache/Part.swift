// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The part of a representation that a 206 brings (RFC 9110 §15.3.7).
struct Part {
    /// The bytes that it has.
    let range: Range<UInt64>
    /// The length of the representation.
    let whole: UInt64

    /// Reads the head of a 206 that can be stored by itself.
    ///
    /// - Returns: nil where nobody asked for a part, where there are several, where the length of the whole is not
    ///   known or no strong validator says what they are parts of, and where the request had If-Range: the origin may
    ///   then leave fields out that the client has already (RFC 9110 §15.3.7).
    init?(of head: ResponseHead, to request: RequestHead) {
        guard !request.fields.contains("If-Range"), Validators.strong(head.fields) != nil else { return nil }
        self.init(completing: head, to: request)
    }

    /// Reads the head of a 206 that completes what is stored.
    init?(completing head: ResponseHead, to request: RequestHead) {
        let values = head.fields.values(of: "Content-Range")
        guard head.status == 206, request.fields.contains("Range"), values.count == 1,
            case .bytes(let range, let whole?) = ContentRange(values[0])
        else { return nil }
        (self.range, self.whole) = (range, whole)
    }
}
