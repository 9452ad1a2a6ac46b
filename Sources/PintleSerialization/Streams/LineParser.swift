// SPDX-License-Identifier: Apache-2.0

/// Turns lines into items.
package protocol LineConsumer<Item> {
    /// The type of the items.
    associatedtype Item: Sendable

    /// The ends of the lines.
    var ending: LineEnding { get }
    /// The maximum size of a line in bytes, without its end.
    var limit: Int { get }
    /// True if bytes after the last line end count as a line.
    var takesUnendedLine: Bool { get }

    /// Takes the next line, without its end. The bytes are valid during the call only.
    ///
    /// - Returns: the item that the line completes; nil if more lines are needed, or the line has no meaning.
    mutating func take(_ line: UnsafeRawBufferPointer, number: Int) throws(TextStreamError) -> Item?
}

/// Turns a text that arrives in pieces of any size into items, which do not depend on the pieces. It keeps no more than the
/// current item.
///
/// After an error it must not be used any more.
package struct LineParser<Consumer: LineConsumer> {
    /// The consumer that makes the items.
    package private(set) var consumer: Consumer
    private var cutter: LineCutter

    /// Makes a parser for one text.
    package init(_ consumer: Consumer) {
        self.consumer = consumer
        self.cutter = LineCutter(consumer.ending, limit: consumer.limit)
    }

    /// Reads bytes up to the end of the next item.
    ///
    /// - Returns: the number of bytes read, and the item; nil if all were read and there is no item yet.
    package mutating func take(
        _ bytes: UnsafeRawBufferPointer
    ) throws(TextStreamError) -> (taken: Int, item: Consumer.Item?) {
        var start = 0
        while start < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            let (taken, result) = try self.cutter.take(rest, for: &self.consumer)
            start += taken
            if case .some(.some(let item)) = result { return (start, item) }
        }
        return (start, nil)
    }

    /// Ends the text.
    ///
    /// - Returns: the item that the last line completes if it has no line end.
    package mutating func finish() throws(TextStreamError) -> Consumer.Item? {
        guard self.consumer.takesUnendedLine else { return nil }
        return try self.cutter.finish(for: &self.consumer)
    }
}
