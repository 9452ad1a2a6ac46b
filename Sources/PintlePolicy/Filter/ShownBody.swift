// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import PintleActivity

/// The kept bodies of an exchange, as people and programs may see them. They are decoded and redacted when they are asked for: that
/// may take milliseconds.
package protocol ShownBodies: Sendable {
    /// The body that the client has sent; nil if nothing of it was kept.
    var request: ShownBody? { get }
    /// The body that the client has received; nil if nothing of it was kept.
    var response: ShownBody? { get }
    /// The messages of a WebSocket, in the order in which they passed.
    var messages: [ShownMessage] { get }
}

/// A body, or the beginning of one, without content codings.
package struct ShownBody: Sendable, Equatable {
    package let bytes: [UInt8]
    /// The media type with its parameters, as it was sent.
    package let type: String?
    /// The length of the whole body on the wire, in bytes.
    package let size: Int
    /// False if only the beginning was kept, or can be shown.
    package let isWhole: Bool

    package init(bytes: [UInt8], type: String?, size: Int, isWhole: Bool) {
        (self.bytes, self.type, self.size, self.isWhole) = (bytes, type, size, isWhole)
    }

    /// The body as text; nil if it is not UTF-8. A character that the end of the kept part cuts is left out.
    package var text: String? { self.bytes.text(isCut: !self.isWhole) }
    package var base64: String { Data(self.bytes).base64EncodedString() }
}

/// A message of a WebSocket.
package struct ShownMessage: Sendable, Equatable {
    /// The kinds, by their numbers on the wire (RFC 6455 §5.2).
    package enum Kind: Int, Sendable {
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10
    }

    /// The time at which its last byte passed.
    package let time: Timestamp
    package let isFromClient: Bool
    package let kind: Kind
    package let bytes: [UInt8]
    /// False if only the beginning was kept.
    package let isWhole: Bool

    package init(time: Timestamp, isFromClient: Bool, kind: Kind, bytes: [UInt8], isWhole: Bool) {
        (self.time, self.isFromClient, self.kind) = (time, isFromClient, kind)
        (self.bytes, self.isWhole) = (bytes, isWhole)
    }

    /// The message as text; nil if it is binary, or a close, which begins with a number (RFC 6455 §5.5.1).
    package var text: String? {
        self.kind == .binary || self.kind == .close ? nil : self.bytes.text(isCut: !self.isWhole)
    }
    package var base64: String { Data(self.bytes).base64EncodedString() }
}

extension [UInt8] {
    /// - Parameter isCut: true if a character may be cut at the end.
    fileprivate func text(isCut: Bool) -> String? {
        if let text = String(validating: self, as: UTF8.self) { return text }
        guard isCut else { return nil }
        // A character has at most four bytes.
        for count in 1...3 where count <= self.count {
            if let text = String(validating: self.dropLast(count), as: UTF8.self) { return text }
        }
        return nil
    }
}
