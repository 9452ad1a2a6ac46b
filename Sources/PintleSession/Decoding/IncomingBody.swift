// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCoding
internal import PintleMessage
internal import PintleSystem

/// The body of a response as a task reads it: as it was sent, or with its content codings removed.
///
/// Confined to the thread of the task's loop. Pieces that may take long to decode are decoded on other threads, in
/// steps of bounded work: a few bytes may unfold to thousands of times their number.
final class IncomingBody {
    private let flow: TransferFlow
    private let decoding: BodyDecoding?
    /// The bytes that have arrived and are not decoded yet.
    private var coded = ByteBuffer()
    /// True if the decoder has more output although it has taken all input.
    private var hasMore = false

    /// The most bytes that are decoded on the loop: decoding them takes less work than handing them to another thread.
    private static let smallPiece = 4 * 1024
    /// The approximate number of decoded bytes of a step on the loop; ``step`` is that of other threads.
    private static let smallStep = 32 * 1024
    private static let step = 256 * 1024
    /// Threads for decoding, which keeps a processor busy. More threads than processors would be of no use.
    private static let threads = ThreadPool(most: Engine.availableProcessors)

    init(_ flow: TransferFlow, decoding: BodyDecoding?) {
        self.flow = flow
        self.decoding = decoding
    }

    /// Waits for more of the body.
    ///
    /// - Returns: bytes that have arrived, or nil when the body is complete.
    /// - Throws: ``SessionError``; with `undecodable` or `tooLarge` if the codings are at fault.
    func next() async throws(SessionError) -> ByteBuffer? {
        guard let decoding else { return try await self.flow.next() }
        while true {
            while self.hasMore || self.coded.readableBytes > 0 {
                let piece = try await self.decodeSome(by: decoding)
                // A decoded piece observes suspension like the next one.
                try await self.flow.waitWhileSuspended()
                if piece.readableBytes > 0 { return piece }
            }
            guard let coded = try await self.flow.next() else {
                try decoding.finish()
                return nil
            }
            self.coded = coded
        }
    }

    /// Waits for more of the body: all pieces that have arrived of a body without codings, otherwise one decoded piece.
    ///
    /// - Returns: the pieces; empty when the body is complete.
    /// - Throws: ``SessionError`` as ``next()``.
    func nextPieces() async throws(SessionError) -> [ByteBuffer] {
        guard self.decoding != nil else { return try await self.flow.nextPieces() }
        return try await self.next().map { [$0] } ?? []
    }

    private func decodeSome(by decoding: BodyDecoding) async throws(SessionError) -> ByteBuffer {
        let coded = self.coded
        let step: BodyDecoding.Step
        if coded.readableBytes <= Self.smallPiece, !self.hasMore {
            step = try decoding.step(coded, making: Self.smallStep)
        } else {
            step = try await Self.threads.resultForRun { () throws(SessionError) in
                try decoding.step(coded, making: Self.step)
            }
            // If the pool's thread is done before this one waits, the task would continue without a pause for the loop.
            await self.flow.waitForTurn()
        }
        self.coded.moveReaderIndex(forwardBy: step.taken)
        self.hasMore = step.hasMore
        return step.bytes
    }
}

/// Removes the content codings of one body.
// Why @unchecked holds: it belongs to one task, which waits for each step before it asks for the next one.
final class BodyDecoding: @unchecked Sendable {
    /// The outcome of one step.
    struct Step: Sendable {
        /// The decoded bytes.
        let bytes: ByteBuffer
        /// The number of coded bytes that were decoded.
        let taken: Int
        /// True if the bytes taken have more output to come.
        let hasMore: Bool
    }

    /// The codings that are removed, in the order in which they were applied.
    let codings: [String]
    private let peer: Authority
    private let settings: Decompression
    private let decoder: ContentDecoder
    private var count = 0

    /// - Throws: ``SessionError`` with `exhausted` if there is no memory for the decoder.
    init(_ codings: [ContentCoding], from peer: Authority, _ settings: Decompression) throws(SessionError) {
        self.codings = codings.map(\.rawValue)
        self.peer = peer
        self.settings = settings
        do throws(ContentDecodingError) {
            self.decoder = try ContentDecoder(
                codings, limit: Decompression.freeBytes, unfolding: settings.ratio)
        } catch {
            throw SessionError(.exhausted, "a response of \(peer) cannot be decoded: \(error)")
        }
    }

    /// Decodes the beginning of `coded`, to about `allowance` bytes.
    func step(_ coded: ByteBuffer, making allowance: Int) throws(SessionError) -> Step {
        var bytes = ByteBuffer()
        var taken = 0
        var progress = ContentDecoder.Progress.done
        var problem: ContentDecodingError?
        coded.withUnsafeReadableBytes { input in
            var rest = input
            do throws(ContentDecodingError) {
                progress = try self.decoder.decode(&rest, atMost: allowance) { piece in
                    bytes.writeBytes(piece)
                    return true
                }
            } catch {
                problem = error
            }
            taken = input.count - rest.count
        }
        if let problem { throw self.error(problem) }
        self.count += bytes.readableBytes
        guard self.count <= self.settings.limit else {
            throw SessionError(
                .tooLarge,
                "the body of \(self.peer) is over \(self.settings.limit) bytes without its content coding; raise the "
                    + "limit of decompression, or turn it off for the request")
        }
        return Step(bytes: bytes, taken: taken, hasMore: progress == .more)
    }

    /// Checks that the body is complete.
    ///
    /// - Throws: ``SessionError`` with `undecodable` if a coding has not reached its end.
    func finish() throws(SessionError) {
        do throws(ContentDecodingError) {
            try self.decoder.finish()
        } catch {
            throw self.error(error)
        }
    }

    private func error(_ error: ContentDecodingError) -> SessionError {
        guard case .beyondLimit = error else {
            return SessionError(.undecodable, "the body of \(self.peer) cannot be decoded: \(error)")
        }
        return SessionError(
            .tooLarge,
            "the body of \(self.peer) unfolds to over \(self.settings.ratio) times its size, as bodies do that are to "
                + "fill memory; raise the ratio of decompression where it is meant so")
    }

}
