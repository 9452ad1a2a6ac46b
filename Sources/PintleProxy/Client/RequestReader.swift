// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// Extracts requests, without their bodies, from received bytes.
struct RequestReader {
    private var parser: RequestParser

    init(limits: HeadLimits) { self.parser = RequestParser(limits: limits) }

    /// Takes the request at the front of `inbox`, which it parses, or finds among the recurrent ones.
    ///
    /// - Parameter limits: the present limits, not those at the time of the connection.
    /// - Returns: nil if the head is incomplete.
    mutating func next(
        _ inbox: inout ByteBuffer, limits: HeadLimits, _ recurrent: inout RecurrentRequests
    ) throws(WireError) -> ReceivedRequest? {
        self.parser.limits = limits
        var result: Result<(request: ReceivedRequest, length: Int)?, WireError> = .success(nil)
        inbox.withUnsafeReadableBytes { bytes in
            result = Result { () throws(WireError) in try self.read(bytes, &recurrent) }
        }
        guard let (request, length) = try result.get() else { return nil }
        inbox.moveReaderIndex(forwardBy: length)
        return request
    }

    private mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ recurrent: inout RecurrentRequests
    ) throws(WireError) -> (request: ReceivedRequest, length: Int)? {
        guard let place = try self.parser.findHead(bytes) else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: bytes[place])
        let known = RecurrentRequests.Head(bytes)
        if let known, let request = recurrent.find(known, in: bytes) { return (request, place.upperBound) }
        let head = try self.parser.read(bytes)
        let framing = try head.bodyFraming()
        guard let known, framing == .none, recurrent.note(known) else {
            return (ReceivedRequest(head, framing), place.upperBound)
        }
        let request = ReceivedRequest(head, framing, isRecurrent: true)
        recurrent.remember(request, known, in: bytes)
        return (request, place.upperBound)
    }
}
