// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// Sends lines over a WebSocket, and prints the answers. The close code at the end is the program's own: only a delegate
/// would receive the server's.
func echo(_ lines: [String], at url: URL) async throws {
    let socket = URLSession.shared.webSocketTask(with: url)
    socket.resume()
    for line in lines {
        try await socket.send(.string(line))
        if case .string(let text) = try await socket.receive() { print(text) }
    }
    socket.cancel(with: .normalClosure, reason: nil)
    _ = try? await socket.receive()
    print("closed with \(socket.closeCode.rawValue)")
}
