// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore

/// Messages to a language model, and the pieces of its answer.
private struct Question: Encodable, Sendable {
    struct Message: Encodable, Sendable { var role = "user", content: String }

    let model: String
    let messages: [Message]
    let stream = true
}

private struct Piece: Decodable {
    struct Choice: Decodable {
        struct Delta: Decodable { let content: String? }
        let delta: Delta
    }
    let choices: [Choice]
}

/// Asks a language model, and prints its answer as it is generated. Events must have their data in one line.
func ask(_ text: String, at base: String, key: String) async throws {
    var request = HTTPClientRequest(url: "\(base)/chat/completions")
    request.method = .POST
    request.headers = ["Authorization": "Bearer \(key)", "Content-Type": "application/json"]
    request.body = .bytes(try JSONEncoder().encode(Question(model: "small", messages: [.init(content: text)])))
    let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(600))
    guard answer.status == .ok else {
        return print(String(buffer: try await answer.body.collect(upTo: 1 << 20)))
    }
    for try await line in answer.body.splitUTF8Lines() where line.hasPrefix("data:") && !line.hasSuffix("[DONE]") {
        let piece = try JSONDecoder().decode(Piece.self, from: Data(line.utf8.dropFirst(5)))
        print(piece.choices.first?.delta.content ?? "", terminator: "")
    }
    print()
}
