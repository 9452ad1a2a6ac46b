// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// A body on its way through a parser: pieces are asked for only when no item is left in the last one.
struct ParsedBody<Consumer: LineConsumer> {
    private(set) var parser: LineParser<Consumer>
    /// Nil when nothing more is wanted, which cancels what is still under way.
    private var body: ResponseBody.Iterator?
    private var piece = ByteBuffer()

    init(_ body: ResponseBody, _ consumer: Consumer) {
        self.parser = LineParser(consumer)
        self.body = body.makeAsyncIterator()
    }

    /// The next item, or nil at the end.
    ///
    /// - Throws: what the body does, and `TextStreamError`; after either there is nothing more.
    @concurrent mutating func next() async throws -> Consumer.Item? {
        do {
            while self.body != nil {
                if let item = try self.itemOfPiece() { return item }
                guard let piece = try await self.body?.next() else {
                    self.body = nil
                    return try self.parser.finish()
                }
                self.piece = piece
            }
            return nil
        } catch {
            self.body = nil
            throw error
        }
    }

    private mutating func itemOfPiece() throws(TextStreamError) -> Consumer.Item? {
        let (taken, item) = try self.piece.readableBytesView.withUnsafeBytes { bytes throws(TextStreamError) in
            try self.parser.take(bytes)
        }
        self.piece.moveReaderIndex(forwardBy: taken)
        return item
    }
}
