// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// The content of a Close (RFC 6455 §5.5.1).
package struct WebSocketClose: Sendable, Equatable {
    /// ``WebSocketCloseCode/noStatus`` where it says nothing.
    package var code: WebSocketCloseCode
    /// Empty where there is none.
    package var reason: String

    /// The most bytes of a reason.
    static let reasonLimit = FrameHeader.controlLimit - 2

    /// Makes one to be sent. A code that none may have leaves it empty; a reason loses what is beyond 123 bytes.
    package init(_ code: WebSocketCloseCode, _ reason: String = "") {
        self.code = code.mayBeSent ? code : .noStatus
        self.reason = code.mayBeSent ? Self.cut(reason) : ""
    }

    /// Makes one that stands for what no Close has said, of any code.
    package init(unsent code: WebSocketCloseCode) { (self.code, self.reason) = (code, "") }

    /// Reads the payload of one that has come.
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

    /// The payload that says so.
    package var payload: ByteBuffer {
        guard self.code != .noStatus else { return ByteBuffer() }
        var payload = ByteBuffer(integer: self.code.rawValue)
        payload.writeString(self.reason)
        return payload
    }

    /// The beginning that fits, up to the end of a character.
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
