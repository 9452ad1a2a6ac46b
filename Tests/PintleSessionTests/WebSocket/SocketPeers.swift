// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleWebSocket

// PintleTesting has another type of this name, for the bytes on the wire.
typealias WebSocket = PintleSession.WebSocket

/// An origin that takes the handshake of a WebSocket and then does as a script says.
func socketOrigin(
    fields: String = "", _ script: @escaping @Sendable (WebSocketPeer) throws -> Void
) throws -> RawOrigin {
    try RawOrigin { connection in try script(WebSocketPeer(connection, fields: fields)) }
}

/// An origin that sends every message back, and the Close.
func echoOrigin(securedBy side: TLSServerSide? = nil) throws -> RawOrigin {
    try RawOrigin { connection in
        if let side { try connection.stream.secure(as: side) }
        let peer = try WebSocketPeer(connection)
        while case let frame = try peer.readFrame() {
            var answer = frame
            answer.mask = []
            if frame.opcode == 9 { answer.opcode = 10 }
            try peer.send(answer)
            if frame.opcode == 8 { return }
        }
    }
}

extension SessionStage {
    func socket(
        _ port: Int, _ path: String = "/chat", options: WebSocketOptions = WebSocketOptions()
    ) async throws(SessionError) -> WebSocket {
        try await self.session.webSocket("ws://127.0.0.1:\(port)\(path)", options: options)
    }
}

/// The messages up to the end.
func messages(of socket: WebSocket) async throws(SessionError) -> [WebSocketMessage] {
    var messages: [WebSocketMessage] = []
    while let message = try await socket.receive() { messages.append(message) }
    return messages
}
