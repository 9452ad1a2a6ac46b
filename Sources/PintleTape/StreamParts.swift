// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// The parts of a body that came as a stream, cut where its format ends them: a part is masked and played as a whole.
package enum StreamParts {
    /// True if the timing of a body of this type is part of its meaning.
    package static func isStream(_ type: String?) -> Bool {
        let essence = type.map(MediaType.essence) ?? ""
        return essence == "text/event-stream" || self.isLines(essence) || essence.hasPrefix("application/grpc")
    }

    private static func isLines(_ essence: String) -> Bool {
        ["application/x-ndjson", "application/jsonl", "application/json-seq", "application/stream+json"].contains(
            essence)
    }

    /// Returns the events or lines of a response, each with the time of its last byte; other bodies in the parts that arrived.
    static func parts(of response: TapeResponse, type: String?) -> [(time: Int, range: Range<Int>)] {
        let essence = type.map(MediaType.essence) ?? ""
        let (isEvents, isLines) = (essence == "text/event-stream", self.isLines(essence))
        var (parts, start, number) = ([(time: Int, range: Range<Int>)](), 0, 0)
        let body = response.body
        func add(_ end: Int) {
            while number + 1 < response.pieces.count, response.pieces[number].end < end { number += 1 }
            parts.append((response.pieces[number].time, start..<end))
            start = end
        }
        if isEvents || isLines {
            for index in body.indices where body[index] == UInt8(ascii: "\n") {
                if isLines || Self.isBlankLine(body, index) { add(index + 1) }
            }
        } else {
            for piece in response.pieces where piece.end > start && piece.end <= body.count { add(piece.end) }
        }
        if start < body.count { add(body.count) }
        return parts
    }

    /// True if the line feed at `index` ends an empty line.
    private static func isBlankLine(_ body: [UInt8], _ index: Int) -> Bool {
        var before = index - 1
        if before >= 0, body[before] == UInt8(ascii: "\r") { before -= 1 }
        return before < 0 || body[before] == UInt8(ascii: "\n")
    }
}
