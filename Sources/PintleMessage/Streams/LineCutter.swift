// SPDX-License-Identifier: Apache-2.0

/// The ends that lines have.
public enum LineEnding: String, Sendable, Hashable, CaseIterable {
    /// A line feed, with or without a carriage return before it: what protocols and logs write.
    case lineFeed = "line-feed"
    /// A line feed, a carriage return, or both in this order: as in event streams and the texts of old systems.
    case any
}

/// Cuts a text in UTF-8 that comes in pieces into its lines, and keeps no more of it than the line under way.
///
/// A byte order mark at the start of the text belongs to no line.
struct LineCutter: Sendable {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    private let ending: LineEnding
    private let limit: Int
    /// Which line is under way, from 1.
    private var number = 1
    /// The bytes of it that came in earlier pieces.
    private var held: [UInt8] = []
    /// How much of a byte order mark has come; nil where none can come any more.
    private var markCount: Int? = 0
    /// Set after a carriage return that has ended a line: a line feed that follows belongs to it. The line is given
    /// without waiting for that.
    private var skipsLineFeed = false

    /// - Parameter limit: the most bytes of a line, without its end.
    init(_ ending: LineEnding, limit: Int) {
        self.ending = ending
        self.limit = limit
    }

    /// Takes what belongs to one line, and gives it to `consumer` when it is whole.
    ///
    /// - Returns: how many bytes were taken, and the result of `consumer`; nil where all were taken and the line goes on.
    mutating func take<Consumer: LineConsumer>(
        _ bytes: UnsafeRawBufferPointer, for consumer: inout Consumer
    ) throws(TextStreamError) -> (taken: Int, result: Consumer.Item??) {
        let start = self.skipped(of: bytes)
        guard let end = self.lineEnd(in: bytes, from: start) else {
            let rest = bytes[start...]
            guard self.held.count + rest.count - (self.mayEnd(with: rest.last) ? 1 : 0) <= self.limit else {
                throw self.tooLong
            }
            self.held.append(contentsOf: rest)
            return (bytes.count, .none)
        }
        let isReturn = bytes[end] == Self.carriageReturn
        let item = try self.give(bytes[start..<end], to: &consumer, isEnded: true)
        self.skipsLineFeed = isReturn
        return (end + 1, .some(item))
    }

    /// Gives the line that has no end, where there is one, to `consumer`.
    mutating func finish<Consumer: LineConsumer>(
        for consumer: inout Consumer
    ) throws(TextStreamError) -> Consumer.Item? {
        if let markCount { self.held = Array(Self.mark[..<markCount]) }
        self.markCount = nil
        guard !self.held.isEmpty else { return nil }
        return try self.give(UnsafeRawBufferPointer(start: nil, count: 0)[...], to: &consumer, isEnded: false)
    }

    private var tooLong: TextStreamError {
        TextStreamError(.tooLong, line: self.number, "more than \(self.limit) bytes")
    }

    /// True where `byte` may turn out to be part of the line's end.
    private func mayEnd(with byte: UInt8?) -> Bool { self.ending == .lineFeed && byte == Self.carriageReturn }

    /// How many bytes belong to a byte order mark, or to the end of the line before.
    private mutating func skipped(of bytes: UnsafeRawBufferPointer) -> Int {
        var index = 0
        while let count = self.markCount, index < bytes.count {
            if bytes[index] == Self.mark[count] {
                self.markCount = count + 1 < Self.mark.count ? count + 1 : nil
                index += 1
            } else {
                self.held = Array(Self.mark[..<count])
                self.markCount = nil
            }
        }
        if self.skipsLineFeed, index < bytes.count {
            self.skipsLineFeed = false
            if bytes[index] == Self.lineFeed { index += 1 }
        }
        return index
    }

    private func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        switch self.ending {
        case .lineFeed: return bytes.firstIndex(of: Self.lineFeed, from: start)
        case .any: return bytes[start...].firstIndex { $0 == Self.lineFeed || $0 == Self.carriageReturn }
        }
    }

    /// Gives what was held and `rest` to `consumer`, and begins the next line.
    private mutating func give<Consumer: LineConsumer>(
        _ rest: Slice<UnsafeRawBufferPointer>, to consumer: inout Consumer, isEnded: Bool
    ) throws(TextStreamError) -> Consumer.Item? {
        if self.held.isEmpty {
            // Most lines lie in one piece, and are not copied.
            return try self.give(UnsafeRawBufferPointer(rebasing: rest), isEnded: isEnded, to: &consumer)
        }
        var line: [UInt8] = []
        swap(&line, &self.held)
        guard line.count + rest.count - 1 <= self.limit else { throw self.tooLong }
        line.append(contentsOf: rest)
        return try line.withUnsafeBufferPointer { line throws(TextStreamError) in
            try self.give(UnsafeRawBufferPointer(line), isEnded: isEnded, to: &consumer)
        }
    }

    private mutating func give<Consumer: LineConsumer>(
        _ line: UnsafeRawBufferPointer, isEnded: Bool, to consumer: inout Consumer
    ) throws(TextStreamError) -> Consumer.Item? {
        let hasReturn = isEnded && self.mayEnd(with: line.last)
        let line = UnsafeRawBufferPointer(rebasing: line.dropLast(hasReturn ? 1 : 0))
        guard line.count <= self.limit else { throw self.tooLong }
        let item = try consumer.take(line, number: self.number)
        self.number += 1
        return item
    }
}
