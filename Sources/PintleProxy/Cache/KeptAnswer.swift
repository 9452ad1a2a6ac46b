// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage
internal import Synchronization

/// A stored response with all of its body in memory.
struct KeptAnswer: Sendable {
    let judged: JudgedResponse
    /// The bytes that are held, from the first to the last.
    let body: SharedBody
    let byteCount: Int
    /// The memory that it takes, in bytes, on the high side.
    let cost: Int
    /// Tells it from all others that there were and will be.
    let number = KeptAnswer.numbers.wrappingAdd(1, ordering: .relaxed).newValue

    private static let numbers = Atomic<UInt64>(0)

    init(_ response: StoredResponse, _ pieces: [ByteBuffer]) {
        var bytes = BodyPieces()
        for piece in pieces { bytes.append(piece) }
        self.init(response, bytes)
    }

    init(_ response: StoredResponse, _ bytes: BodyPieces) {
        self.init(response, SharedBody(whole: bytes.all), bytes.count)
    }

    private init(_ response: StoredResponse, _ body: SharedBody, _ byteCount: Int) {
        (self.judged, self.body, self.byteCount) = (AnswerStore.rules.judged(response), body, byteCount)
        var cost = body.pieces.reduce(Self.fixedCost) { $0 + $1.storageCapacity + 64 }
        response.head.fields.forEachLine { cost += $1.count + 64 }
        self.cost = response.tags.reduce(cost) { $0 + $1.utf8.count + 32 }
    }

    var response: StoredResponse { self.judged.response }

    /// The bytes that are held, in pieces.
    var pieces: [ByteBuffer] { self.body.pieces }

    /// The same body with another head.
    func with(_ response: StoredResponse) -> KeptAnswer { KeptAnswer(response, self.body, self.byteCount) }

    /// The objects around it, and its share of the tables, as measured with answers of a few bytes.
    private static let fixedCost = 2048

    /// True where it answers the same requests as another one, whose place it takes: all of those that a part answers.
    func replaces(_ other: KeptAnswer) -> Bool {
        self.response.selecting == other.response.selecting
            && (self.response.isComplete || self.response.range == other.response.range)
    }
}
