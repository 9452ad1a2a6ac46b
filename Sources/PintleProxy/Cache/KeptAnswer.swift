// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage
internal import Synchronization

/// A stored response with its body, which is in memory, or on a disk where that is too long.
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

    /// An answer whose body is on a disk.
    init(_ response: StoredResponse, _ body: SharedBody) {
        self.init(response, body, Int(clamping: response.heldLength))
    }

    private init(_ response: StoredResponse, _ body: SharedBody, _ byteCount: Int) {
        (self.judged, self.body, self.byteCount) = (AnswerStore.rules.judged(response), body, byteCount)
        var cost = body.pieces.reduce(Self.fixedCost) { $0 + $1.storageCapacity + 64 }
        response.head.fields.forEachLine { cost += $1.count + 64 }
        for field in response.selecting { cost += field.name.utf8.count + (field.value?.count ?? 0) + 64 }
        self.cost = response.tags.reduce(cost) { $0 + $1.utf8.count + 32 }
    }

    var response: StoredResponse { self.judged.response }

    /// The bytes that are held, in pieces; none where they are on a disk.
    var pieces: [ByteBuffer] { self.body.pieces }

    var isInMemory: Bool { self.byteCount == 0 || !self.pieces.isEmpty }

    /// The same body with another head.
    func with(_ response: StoredResponse) -> KeptAnswer { KeptAnswer(response, self.body, self.byteCount) }

    /// The objects around it, and its share of the tables, as measured with answers of a few bytes.
    private static let fixedCost = 2048

    /// True where it takes the place of another one, as the origin's answer to a request that both would answer.
    func replaces(_ other: KeptAnswer, for request: RequestHead) -> Bool {
        self.response.replaces(other.response, for: request)
    }

    /// True where it answers the same requests as another one.
    func isLike(_ other: KeptAnswer) -> Bool {
        self.response.selecting == other.response.selecting && self.response.range == other.response.range
    }
}

extension StoredResponse {
    /// True where it takes the place of another one, as the origin's answer to a request that both would answer. A part leaves the
    /// others where they are.
    func replaces(_ other: StoredResponse, for request: RequestHead) -> Bool {
        (self.isComplete || self.range == other.range) && AnswerStore.rules.matches(other, request)
    }
}
