// SPDX-License-Identifier: Apache-2.0

/// Compares the messages of a WebSocket's server with those of its recording: kind and content, in their order.
///
/// A server answers what its client says. So a message counts as long as the client has said the same before it, here and there;
/// and as many messages as both conversations have, since a client may leave earlier than the recorded one did.
enum MessageDifferences {
    /// Returns the first difference as a sentence; nil if there is none. Both have their secrets masked.
    static func find(_ messages: [TapeMessage], _ recorded: [TapeMessage], _ rules: MatchRules) -> String? {
        let (here, there) = (Conversation(messages), Conversation(recorded))
        let same = zip(here.client, there.client).prefix { Self.difference($0, $1, rules) == nil }.count
        for (index, pair) in zip(here.server, there.server).enumerated() {
            // The client has said something else, here or there.
            guard max(pair.0.behind, pair.1.behind) <= same else { return nil }
            guard let difference = Self.difference(pair.0.message, pair.1.message, rules) else { continue }
            return "message \(index + 1) of the server differs from its recording: \(difference)"
        }
        return nil
    }

    private static func difference(_ here: TapeMessage, _ there: TapeMessage, _ rules: MatchRules) -> String? {
        guard here.kind == there.kind else { return "it is \(here.kind.words), and was \(there.kind.words)" }
        let (body, recorded) = (
            ComparableBody(here.bytes, type: nil, rules), ComparableBody(there.bytes, type: nil, rules)
        )
        return body.bytes == recorded.bytes ? nil : body.difference(from: recorded)
    }
}

/// The messages of both sides, up to the client's Close: the server's Close behind that is only its echo.
private struct Conversation {
    private(set) var client: [TapeMessage] = []
    /// Each with the number of the client's messages before it.
    private(set) var server: [(message: TapeMessage, behind: Int)] = []

    init(_ messages: [TapeMessage]) {
        for message in messages {
            if !message.isFromClient {
                self.server.append((message, self.client.count))
            } else if message.kind == .close {
                return
            } else {
                self.client.append(message)
            }
        }
    }
}

extension TapeMessage.Kind {
    fileprivate var words: String {
        switch self {
        case .text: "a text"
        case .binary: "binary"
        case .close: "the close"
        }
    }
}
