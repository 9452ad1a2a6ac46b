// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import Testing

/// The items that a parser found in a text, and the error that ended them.
struct StreamedItems<Item: Sendable & Equatable>: Equatable {
    var items: [Item] = []
    var error: TextStreamError?

    /// Feeds a parser with pieces, each from its first byte to its last.
    init(_ consumer: some LineConsumer<Item>, _ pieces: [ArraySlice<UInt8>]) {
        var parser = LineParser(consumer)
        do throws(TextStreamError) {
            for piece in pieces {
                // A separate array, so that reads past its end are noticed.
                let piece = Array(piece)
                var taken = 0
                while taken < piece.count {
                    let (count, item) = try piece[taken...].withUnsafeBufferPointer {
                        rest throws(TextStreamError) in try parser.take(UnsafeRawBufferPointer(rest))
                    }
                    taken += count
                    if let item { self.items.append(item) }
                    #expect(item != nil || taken == piece.count, "bytes are left without an item")
                    if count == 0 { break }
                }
            }
            if let last = try parser.finish() { self.items.append(last) }
        } catch {
            self.error = error
        }
    }

    /// Returns the items of a whole text, which are the same however it is cut.
    static func of(_ text: [UInt8], _ make: () -> some LineConsumer<Item>) -> StreamedItems {
        let whole = StreamedItems(make(), [text[...]])
        for cut in Cuts.systematic(text) {
            #expect(StreamedItems(make(), cut) == whole, "cut into \(cut.map(\.count))")
        }
        return whole
    }
}
