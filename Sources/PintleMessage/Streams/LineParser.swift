// SPDX-License-Identifier: Apache-2.0

/// Makes items of lines.
package protocol LineConsumer<Item> {
    /// The items that it makes.
    associatedtype Item: Sendable

    /// The ends of its lines.
    var ending: LineEnding { get }
    /// The most bytes of a line, without its end.
    var limit: Int { get }
    /// True where what stands behind the last end of a line is a line.
    var takesUnendedLine: Bool { get }

    /// Takes the next line, without its end; it is valid during the call only.
    ///
    /// - Returns: the item that it completes; nil where more lines are needed, or where it means nothing.
    mutating func take(_ line: UnsafeRawBufferPointer, number: Int) throws(TextStreamError) -> Item?
}

/// Makes items of a text that comes in pieces of any size: the same ones however it is cut. It keeps no more than the item
/// under way.
///
/// After an error it is of no use.
package struct LineParser<Consumer: LineConsumer> {
    /// Makes the items.
    package private(set) var consumer: Consumer
    private var cutter: LineCutter

    /// Makes a parser for one text.
    package init(_ consumer: Consumer) {
        self.consumer = consumer
        self.cutter = LineCutter(consumer.ending, limit: consumer.limit)
    }

    /// Takes bytes up to the end of the next item.
    ///
    /// - Returns: how many bytes were taken, and the item; nil where all were taken and there is none yet.
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

    /// Tells that the text ends here.
    ///
    /// - Returns: the item that its last line completes, where that has no end.
    package mutating func finish() throws(TextStreamError) -> Consumer.Item? {
        guard self.consumer.takesUnendedLine else { return nil }
        return try self.cutter.finish(for: &self.consumer)
    }
}
