// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// The content of a Close frame (RFC 6455 §5.5.1).
package struct WebSocketClose: Sendable, Equatable {
    /// The code; ``WebSocketCloseCode/noStatus`` if the frame is empty.
    package var code: WebSocketCloseCode
    /// The reason; may be empty.
    package var reason: String

    /// The maximum number of bytes in a reason.
    static let reasonLimit = FrameHeader.controlLimit - 2

    /// Creates a Close to be sent. A code that must not be sent leaves it empty; a reason is cut to 123 bytes.
    package init(_ code: WebSocketCloseCode, _ reason: String = "") {
        self.code = code.mayBeSent ? code : .noStatus
        self.reason = code.mayBeSent ? Self.cut(reason) : ""
    }

    /// Creates a Close for a connection that ended without one, with any code.
    package init(unsent code: WebSocketCloseCode) { (self.code, self.reason) = (code, "") }

    /// Reads the payload of a Close that was received.
    init(_ payload: ByteBuffer, by role: WebSocketRole) throws(WebSocketViolation) {
        var payload = payload
        guard payload.readableBytes > 0 else {
            (self.code, self.reason) = (.noStatus, "")
            return
        }
        guard let number = payload.readInteger(as: UInt16.self) else {
            throw WebSocketViolation(.closePayload, "\(role.peer) sent a Close with half a code")
        }
        self.code = WebSocketCloseCode(rawValue: number)
        guard self.code.mayBeSent else {
            throw WebSocketViolation(
                .closePayload, "\(role.peer) sent a Close with \(number), which is no code for one")
        }
        var check = UTF8Check()
        guard payload.withUnsafeReadableBytes({ check.accepts($0) }), check.isComplete else {
            throw WebSocketViolation(.invalidText, "\(role.peer) sent a Close whose reason is not UTF-8")
        }
        self.reason = String(buffer: payload)
    }

    /// The payload of the frame.
    package var payload: ByteBuffer {
        guard self.code != .noStatus else { return ByteBuffer() }
        var payload = ByteBuffer(integer: self.code.rawValue)
        payload.writeString(self.reason)
        return payload
    }

    /// Returns the longest prefix of whole scalars that fits.
    private static func cut(_ reason: String) -> String {
        guard reason.utf8.count > Self.reasonLimit else { return reason }
        var kept = String.UnicodeScalarView()
        var size = 0
        for scalar in reason.unicodeScalars {
            size += UTF8.width(scalar)
            guard size <= Self.reasonLimit else { break }
            kept.append(scalar)
        }
        return String(kept)
    }
}
