// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Turns the lines of an event stream into events (WHATWG HTML §9.2.6).
///
/// Lines after the last empty line are dropped when the stream ends.
package struct ServerSentEvents: LineConsumer {
    package let ending = LineEnding.any
    /// The maximum size of a line, and of all fields of an event together, in bytes.
    package let limit: Int
    package let takesUnendedLine = false

    /// The value of Last-Event-ID for a new connection: the ID of the last complete event, with data or without.
    package private(set) var lastEventID: String
    /// The time to wait before a new connection, if the stream named one.
    package private(set) var retry: Duration?

    /// The current event so far: its type, its data with a line feed after each line, the last ID up to it, the size of its
    /// own ID in bytes, and its waiting time.
    private var type: [UInt8] = []
    private var data: [UInt8] = []
    private var id: String
    private var ownIDCount = 0
    private var ownRetry: Duration?

    /// Accepts events of at most `limit` bytes.
    ///
    /// - Parameter lastEventID: the value from the previous connection. It stays valid until the stream names another one.
    package init(limit: Int, lastEventID: String = "") {
        self.limit = limit
        self.lastEventID = lastEventID
        self.id = lastEventID
    }

    package mutating func take(
        _ line: UnsafeRawBufferPointer, number: Int
    ) throws(TextStreamError) -> ServerSentEvent? {
        guard !line.isEmpty else { return self.complete() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"), from: 0) ?? line.count
        var value = line.dropFirst(colon + 1)
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        self.take(UnsafeRawBufferPointer(rebasing: line[..<colon]), UnsafeRawBufferPointer(rebasing: value))
        // The line feed after the last line of the data does not count: the event will not include it.
        guard self.type.count + max(0, self.data.count - 1) + self.ownIDCount <= self.limit else {
            throw TextStreamError(.tooLong, line: number, "an event of more than \(self.limit) bytes")
        }
        return nil
    }

    /// Takes a field. Fields with unknown names, and comments, which have an empty name, are ignored.
    private mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if name.elementsEqual("data".utf8) {
            self.data.append(contentsOf: value)
            self.data.append(UInt8(ascii: "\n"))
        } else if name.elementsEqual("event".utf8) {
            self.type = Array(value)
        } else if name.elementsEqual("id".utf8) {
            guard value.firstIndex(of: 0, from: 0) == nil else { return }
            self.id = String(decoding: value, as: UTF8.self)
            self.ownIDCount = value.count
        } else if name.elementsEqual("retry".utf8), let milliseconds = Self.number(value) {
            self.ownRetry = .milliseconds(milliseconds)
            self.retry = self.ownRetry
        }
    }

    /// - Returns: the value of ASCII digits, at most `Int64.max`; nil if `digits` is empty or has other bytes.
    private static func number(_ digits: UnsafeRawBufferPointer) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    /// Handles an empty line: the fields so far form an event if there are data; they count for reconnecting in any case.
    private mutating func complete() -> ServerSentEvent? {
        self.lastEventID = self.id
        defer {
            self.type.removeAll()
            self.data.removeAll()
            self.ownIDCount = 0
            self.ownRetry = nil
        }
        guard !self.data.isEmpty else { return nil }
        return ServerSentEvent(
            event: self.type.isEmpty ? "message" : String(decoding: self.type, as: UTF8.self),
            data: String(decoding: self.data.dropLast(), as: UTF8.self), id: self.lastEventID, retry: self.ownRetry)
    }
}
