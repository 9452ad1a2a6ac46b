// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSerialization

/// A body that is read through a parser. The next piece is requested only when the last one has no further item.
struct ParsedBody<Consumer: LineConsumer> {
    private(set) var parser: LineParser<Consumer>
    /// Nil when no more is wanted; releasing it cancels the rest of the transfer.
    private var body: ResponseBody.Iterator?
    private var piece = ByteBuffer()

    init(_ body: ResponseBody, _ consumer: Consumer) {
        self.parser = LineParser(consumer)
        self.body = body.makeAsyncIterator()
    }

    /// Returns the next item, or nil at the end.
    ///
    /// - Throws: the error of the body, or `TextStreamError`; after either there are no more items.
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
