// SPDX-License-Identifier: Apache-2.0

import Pintle

/// Follows a service's messages about orders, over a WebSocket whose server must have one of two keys.
func followOrders(at url: String, roots: SecurityPolicy.Roots, pins: [Pin]) async throws {
    let engine = try Engine(threads: 1)
    let policy = try SecurityPolicy(pinning: .publicKey, pins: Set(pins), roots: roots)
    let session = try Session(engine: engine, policy: policy)

    var options = WebSocketOptions()
    options.subprotocols = ["orders.v2", "orders.v1"]
    options.keepAlive = .init(interval: .seconds(30))
    let socket = try await session.webSocket(url, options: options)
    print("speaks \(socket.subprotocol ?? "no protocol by name")")

    try await socket.send(#"{"follow": "all"}"#)
    for try await message in socket {
        guard case .text(let text) = message else {
            await socket.close(code: .unsupportedData, reason: "orders are text")
            break
        }
        print(text)
    }
    if let code = socket.closeCode { print("closed with \(code): \(socket.closeReason ?? "")") }

    await session.finishTasksAndInvalidate()
    engine.stop()
}
