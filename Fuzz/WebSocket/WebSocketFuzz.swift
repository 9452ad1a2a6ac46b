// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleFuzzing
internal import PintleMessage
internal import PintleWebSocket

/// Fuzzes one end of a WebSocket with bytes whole, and in pieces with a small budget: events and answers are the same. The
/// first byte chooses the end and the negotiated extensions.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    let body = Array(bytes.dropFirst())
    let whole = received([body], selector, budget: .max)
    let inPieces = received(body.pieces, selector, budget: 1 + Int(selector))
    hold(whole.events == inPieces.events, "pieces have the events of the whole: \(inPieces), not \(whole)")
    hold(whole.answers == inPieces.answers, "pieces have the answers of the whole")
    for case .message(let message) in whole.events {
        hold(message.bytes.readableBytes <= limit, "no message is over the limit")
        hold(
            !message.isText || String(validating: message.bytes.readableBytesView, as: UTF8.self) != nil,
            "text is UTF-8")
    }
    checkExtensions(body)
    return 0
}

private let limit = 100_000

private func received(
    _ pieces: [[UInt8]], _ selector: UInt8, budget: Int
) -> (events: [WebSocketEvent], answers: ByteBuffer) {
    var agreed = DeflateParameters()
    agreed.serverNoContextTakeover = selector & 4 != 0
    agreed.clientNoContextTakeover = selector & 4 != 0
    var machine = WebSocketMachine(
        role: selector & 1 == 0 ? .client : .server, compression: selector & 2 == 0 ? agreed : nil,
        messageLimit: limit, makeMask: { FrameMask(key: 0) })
    var (events, input, answers): ([WebSocketEvent], ByteBuffer, ByteBuffer) = ([], ByteBuffer(), ByteBuffer())
    for piece in pieces {
        // A separate buffer, so that reads past its end are found.
        input = ByteBuffer(bytes: Array(input.readableBytesView) + piece)
        var left: Int
        repeat {
            left = budget
            while let event = machine.next(&input, budget: &left) {
                machine.answer(event, into: &answers)
                events.append(event)
            }
        } while left <= 0
    }
    return (events, answers)
}

/// Checks the bytes as a list of extensions that a client offers; our own answer must be a valid answer to it.
private func checkExtensions(_ bytes: [UInt8]) {
    let request = RequestHead(
        method: "GET", target: .origin(path: "/"),
        fields: [
            "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Extensions": String(decoding: bytes.prefix(500), as: UTF8.self),
        ])
    let server = ServerHandshake(compression: WebSocketCompression())
    guard case .success(let answer) = outcome({ () throws(WebSocketHandshakeError) in try server.answer(to: request) })
    else { return }
    guard let agreed = answer.agreement.compression else { return }
    hold(
        (8...15).contains(agreed.serverMaxWindowBits) && (8...15).contains(agreed.clientMaxWindowBits), "windows exist")
}
