// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// Compares a response with its recording (`replay.mode: compare`).
enum ResponseDifferences {
    /// Returns a sentence for each part that differs: the status, the media type, the body; of a WebSocket the subprotocol, and the
    /// messages. Both have their secrets masked.
    static func find(_ response: TapeResponse, _ recorded: TapeResponse, _ rules: MatchRules) -> [String] {
        var found: [String] = []
        if response.head.status != recorded.head.status {
            found.append("the status is \(response.head.status), and was \(recorded.head.status)")
        }
        let type = response.head.fields[.contentType].map(MediaType.essence) ?? ""
        let recordedType = recorded.head.fields[.contentType].map(MediaType.essence) ?? ""
        if type != recordedType {
            found.append("the media type is \(Self.shown(type)), and was \(Self.shown(recordedType))")
        }
        let body = ComparableBody(response.body, type: type, rules)
        let recordedBody = ComparableBody(recorded.body, type: recordedType, rules)
        if body.bytes != recordedBody.bytes {
            found.append("the body differs from its recording: \(body.difference(from: recordedBody))")
        }
        guard let messages = response.messages, let recordedMessages = recorded.messages else { return found }
        let (name, recordedName) = (Self.subprotocol(response), Self.subprotocol(recorded))
        if name != recordedName {
            found.append("the subprotocol is \(Self.shown(name)), and was \(Self.shown(recordedName))")
        } else if let difference = MessageDifferences.find(messages, recordedMessages, rules) {
            found.append(difference)
        }
        return found
    }

    private static func subprotocol(_ response: TapeResponse) -> String {
        response.head.fields["Sec-WebSocket-Protocol"] ?? ""
    }

    private static func shown(_ type: String) -> String { type.isEmpty ? "missing" : type }
}
