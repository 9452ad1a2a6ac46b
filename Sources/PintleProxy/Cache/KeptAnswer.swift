// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage

/// A stored response with all of its body in memory.
struct KeptAnswer: Sendable {
    let judged: JudgedResponse
    /// The bytes that are held, from the first to the last.
    let body: SharedBody
    let byteCount: Int

    init(_ response: StoredResponse, _ pieces: [ByteBuffer]) {
        self.init(response, SharedBody(whole: pieces), pieces.reduce(0) { $0 + $1.readableBytes })
    }

    private init(_ response: StoredResponse, _ body: SharedBody, _ byteCount: Int) {
        (self.judged, self.body, self.byteCount) = (AnswerStore.rules.judged(response), body, byteCount)
    }

    var response: StoredResponse { self.judged.response }

    /// The bytes that are held, in pieces.
    var pieces: [ByteBuffer] { self.body.pieces }

    /// The same body with another head.
    func with(_ response: StoredResponse) -> KeptAnswer { KeptAnswer(response, self.body, self.byteCount) }

    /// The memory that it takes, in bytes, on the high side.
    var cost: Int {
        let fields = self.response.head.fields.pairs.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
        let tags = self.response.tags.reduce(0) { $0 + $1.utf8.count + 32 }
        return self.byteCount + fields + tags + Self.fixedCost
    }

    /// The objects around it, and its share of the tables.
    private static let fixedCost = 1024

    /// True where it answers the same requests as another one, whose place it takes: all of those that a part answers.
    func replaces(_ other: KeptAnswer) -> Bool {
        self.response.selecting == other.response.selecting
            && (self.response.isComplete || self.response.range == other.response.range)
    }
}
