// SPDX-License-Identifier: Apache-2.0

import Foundation
import Pintle

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

/// Asks a language model, and prints its answer as it is generated.
func ask(_ text: String, at base: String, key: String) async throws {
    var api = try HTTPSession(base: base)
    api.requestSerializer = try HTTPRequestSerializer(defaultFields: ["Authorization": "Bearer \(key)"])
    let question = Question(model: "small", messages: [.init(content: text)])
    let answer = try await api.stream("chat/completions", method: "POST", body: .json(question))
    guard answer.head.status == 200 else {
        return print(String(buffer: try await answer.body.collect(upTo: 1 << 20)))
    }
    for try await event in answer.body.serverSentEvents() where event.data != "[DONE]" {
        let piece = try JSONDecoder().decode(Piece.self, from: Data(event.data.utf8))
        print(piece.choices.first?.delta.content ?? "", terminator: "")
    }
    print()
}
