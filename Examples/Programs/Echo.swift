// SPDX-License-Identifier: Apache-2.0

import Pintle

/// Sends lines over a WebSocket, and prints the answers.
func echo(_ lines: [String], at url: String) async throws {
    let socket = try await HTTPSession().webSocket(url)
    for line in lines {
        try await socket.send(line)
        if case .text(let text) = try await socket.receive() { print(text) }
    }
    await socket.close()
    print("closed with \(socket.closeCode ?? .normal)")
}
