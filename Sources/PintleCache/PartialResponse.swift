// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// A response of which a part has come, in the form of a 206: one that is a 206, or what came of a body that broke off (RFC 9111
/// §3.3).
package struct PartialResponse: Sendable {
    /// With status 206, and the bytes that came in Content-Range.
    let head: ResponseHead
    /// With a Range field.
    let request: RequestHead
    private let part: Part
    /// True for the beginning of what would have been a 200.
    let isBeginning: Bool

    /// The bytes that came of the representation, never none.
    package var range: Range<UInt64> { self.part.range }

    /// Takes a 206 as its head has it.
    ///
    /// - Parameter request: as it went to the origin.
    /// - Returns: nil for another status, and where no single range, or no length of the whole, is in the head.
    package init?(_ head: ResponseHead, to request: RequestHead) {
        self.init(head, to: request, isBeginning: false)
    }

    /// Takes what came of a body that broke off.
    ///
    /// - Parameters:
    ///   - received: the bytes of the body that came.
    ///   - length: of the body in bytes, as the head had it; nil where it had none.
    /// - Returns: nil where nothing came, or more than the head had said; for statuses other than 200 and 206; and for a 200
    ///   where nobody knows how long the whole would have been.
    package init?(_ head: ResponseHead, to request: RequestHead, received: UInt64, of length: UInt64?) {
        var (head, request) = (head, request)
        var (start, most, whole): (UInt64, UInt64, UInt64) = (0, length ?? 0, length ?? 0)
        if head.status == 206 {
            guard let part = Part(completing: head, to: request) else { return nil }
            (start, most, whole) = (part.range.lowerBound, part.range.length, part.whole)
        } else {
            // The origin has left out no field, since it sent the whole.
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

/// A part, and the stored responses that it was joined with.
package struct JoinedPart: Sendable, Equatable {
    /// The stored form of all their bytes.
    package var response: StoredResponse
    /// The places of those whose bytes are in it.
    package var places: [Int]
}
