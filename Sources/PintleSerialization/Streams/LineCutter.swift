// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The ends of lines.
public enum LineEnding: String, Sendable, Hashable, CaseIterable {
    /// A line feed, with or without a carriage return before it, as in protocols and logs.
    case lineFeed = "line-feed"
    /// A line feed, a carriage return, or both in this order, as in event streams and the texts of old systems.
    case any
}

/// Cuts a UTF-8 text that arrives in pieces into lines. It keeps no more of the text than the current line.
///
/// A byte order mark at the start of the text belongs to no line.
struct LineCutter: Sendable {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    private let ending: LineEnding
    private let limit: Int
    /// The number of the current line, from 1.
    private var number = 1
    /// The bytes of the current line from earlier pieces.
    private var held: [UInt8] = []
    /// The number of bytes of a byte order mark so far; nil once no mark can follow.
    private var markCount: Int? = 0
    /// True after a carriage return has ended a line: a line feed that follows belongs to it. The consumer gets the line
    /// without waiting for that.
    private var skipsLineFeed = false

    /// - Parameter limit: the maximum size of a line in bytes, without its end.
    init(_ ending: LineEnding, limit: Int) {
        self.ending = ending
        self.limit = limit
    }

    /// Reads up to the end of the line, and gives the whole line to `consumer`.
    ///
    /// - Returns: the number of bytes read, and the result of `consumer`; nil if all were read and the line continues.
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

    /// Gives the last line to `consumer` if it has no end.
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

    /// True if `byte` may turn out to be part of the line's end.
    private func mayEnd(with byte: UInt8?) -> Bool { self.ending == .lineFeed && byte == Self.carriageReturn }

    /// Returns the number of bytes that belong to a byte order mark, or to the end of the previous line.
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

    /// Gives the held bytes and `rest` to `consumer`, and begins the next line.
    private mutating func give<Consumer: LineConsumer>(
        _ rest: Slice<UnsafeRawBufferPointer>, to consumer: inout Consumer, isEnded: Bool
    ) throws(TextStreamError) -> Consumer.Item? {
        if self.held.isEmpty {
            // Most lines lie in one piece, and need no copy.
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
