// SPDX-License-Identifier: Apache-2.0

public import NIOCore

/// A message of a WebSocket: whole, whatever frames it came in.
public enum WebSocketMessage: Sendable, Hashable {
    /// Text, which goes as UTF-8.
    case text(String)
    /// Bytes.
    case binary(ByteBuffer)
}

/// A message as its bytes are on the way.
package struct WebSocketPayload: Sendable, Equatable {
    /// True where the bytes are UTF-8.
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

    /// The message; text that is made here was checked before.
    package var message: WebSocketMessage {
        self.isText ? .text(String(buffer: self.bytes)) : .binary(self.bytes)
    }
}
