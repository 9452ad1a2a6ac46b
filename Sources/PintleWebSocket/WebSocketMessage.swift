// SPDX-License-Identifier: Apache-2.0

public import NIOCore

/// A whole message of a WebSocket, independent of its frames.
public enum WebSocketMessage: Sendable, Hashable {
    /// Text, which is sent as UTF-8.
    case text(String)
    /// Bytes.
    case binary(ByteBuffer)
}

/// A message as bytes for the wire.
package struct WebSocketPayload: Sendable, Equatable {
    /// True if the bytes are UTF-8 text.
    package var isText: Bool
    package var bytes: ByteBuffer

    package init(isText: Bool, bytes: ByteBuffer) {
        self.isText = isText
        self.bytes = bytes
    }

    package init(_ message: WebSocketMessage) {
        switch message {
        case .text(let text): self.init(isText: true, bytes: ByteBuffer(string: text))
        case .binary(let bytes): self.init(isText: false, bytes: bytes)
        }
    }

    /// The message; its text was checked before.
    package var message: WebSocketMessage {
        self.isText ? .text(String(buffer: self.bytes)) : .binary(self.bytes)
    }
}
