// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// A response of which a part has arrived, in the form of a 206: either a real 206, or the received bytes of a body that broke
/// off (RFC 9111 §3.3).
package struct PartialResponse: Sendable {
    /// The head with status 206; its Content-Range has the received bytes.
    let head: ResponseHead
    /// The request with a Range field.
    let request: RequestHead
    private let part: Part
    /// True for the beginning of a 200 that broke off.
    let isBeginning: Bool

    /// The received bytes of the representation; never empty.
    package var range: Range<UInt64> { self.part.range }

    /// Takes a complete 206.
    ///
    /// - Parameter request: the request sent to the origin.
    /// - Returns: nil for another status, and if the head lacks a single range or the complete length.
    package init?(_ head: ResponseHead, to request: RequestHead) {
        self.init(head, to: request, isBeginning: false)
    }

    /// Takes the received bytes of a body that broke off.
    ///
    /// - Parameters:
    ///   - received: the number of received bytes of the body.
    ///   - length: the length of the body in bytes from the head; nil if the head has none.
    /// - Returns: nil if no bytes arrived, or more than the head declared; for statuses other than 200 and 206; and for a 200
    ///   whose complete length is unknown.
    package init?(_ head: ResponseHead, to request: RequestHead, received: UInt64, of length: UInt64?) {
        var (head, request) = (head, request)
        var (start, most, whole): (UInt64, UInt64, UInt64) = (0, length ?? 0, length ?? 0)
        if head.status == 206 {
            guard let part = Part(completing: head, to: request) else { return nil }
            (start, most, whole) = (part.range.lowerBound, part.range.length, part.whole)
        } else {
            // The origin sent the complete representation, and so omitted no field.
            request.fields.remove("If-Range")
            request.fields.set("Range", "bytes=0-")
        }
        guard head.status == 200 || head.status == 206, 0 < received, received <= most else { return nil }
        let isBeginning = head.status == 200
        head.status = 206
        head.fields.set("Content-Range", ContentRange.bytes(start..<start + received, of: whole).description)
        self.init(head, to: request, isBeginning: isBeginning)
    }

    private init?(_ head: ResponseHead, to request: RequestHead, isBeginning: Bool) {
        guard let part = Part(completing: head, to: request) else { return nil }
        (self.head, self.request, self.part, self.isBeginning) = (head, request, part, isBeginning)
    }
}

/// A part, and the stored responses that it was combined with.
package struct JoinedPart: Sendable, Equatable {
    /// The stored form of all their bytes.
    package var response: StoredResponse
    /// The indices of the stored responses whose bytes are in it.
    package var places: [Int]
}
