// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage
internal import Synchronization

/// A cached response with its body, which is in memory, or on disk if it is too long.
struct KeptAnswer: Sendable {
    let judged: JudgedResponse
    /// The cached bytes, from the first to the last.
    let body: SharedBody
    let byteCount: Int
    /// The memory that it takes, in bytes; a generous estimate.
    let cost: Int
    /// Unique among all responses of this process.
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

    /// Creates a response whose body is on disk.
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

    /// The cached bytes, in pieces; empty if they are on disk.
    var pieces: [ByteBuffer] { self.body.pieces }

    var isInMemory: Bool { self.byteCount == 0 || !self.pieces.isEmpty }

    /// Returns this body with another head.
    func with(_ response: StoredResponse) -> KeptAnswer { KeptAnswer(response, self.body, self.byteCount) }

    /// The memory of its objects, and its share of the tables, in bytes; measured with small responses.
    private static let fixedCost = 2048

    /// True if it replaces another response, because both would answer the request.
    func replaces(_ other: KeptAnswer, for request: RequestHead) -> Bool {
        self.response.replaces(other.response, for: request)
    }

    /// True if it answers the same requests as another response.
    func isLike(_ other: KeptAnswer) -> Bool {
        self.response.selecting == other.response.selecting && self.response.range == other.response.range
    }
}

extension StoredResponse {
    /// True if it replaces another response, because both would answer the request. A partial response replaces only one of the
    /// same range.
    func replaces(_ other: StoredResponse, for request: RequestHead) -> Bool {
        (self.isComplete || self.range == other.range) && AnswerStore.rules.matches(other, request)
    }
}
