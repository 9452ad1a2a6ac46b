// SPDX-License-Identifier: Apache-2.0

/// Makes events of the lines of an event stream (WHATWG HTML §9.2.6).
///
/// Lines behind the last empty one, when the stream ends, are no event.
package struct ServerSentEvents: LineConsumer {
    package let ending = LineEnding.any
    /// The most bytes of a line, and of the fields of an event together.
    package let limit: Int
    package let takesUnendedLine = false

    /// The value of Last-Event-ID for a new connection: the ID of the last event that was complete, with data or without.
    package private(set) var lastEventID: String
    /// The time to wait before a new connection, where the stream has told one.
    package private(set) var retry: Duration?

    /// What has come of the event under way: its type, its data with a line feed behind each line, the ID as of it,
    /// and the waiting time.
    private var type: [UInt8] = []
    private var data: [UInt8] = []
    private var id: String
    private var ownIDCount = 0
    private var ownRetry: Duration?

    /// Takes events of at most `limit` bytes.
    ///
    /// - Parameter lastEventID: as of the connection before. It goes on to count until there is another one.
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
        // The line feed behind the last line of the data does not count: the event will not have it.
        guard self.type.count + max(0, self.data.count - 1) + self.ownIDCount <= self.limit else {
            throw TextStreamError(.tooLong, line: number, "an event of more than \(self.limit) bytes")
        }
        return nil
    }

    /// Takes a field; a comment is one without a name. Other names than these mean nothing.
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

    /// - Returns: the value of ASCII digits, `Int64.max` where that is more; nil where there is anything else, or nothing.
    private static func number(_ digits: UnsafeRawBufferPointer) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    /// An empty line: what has come is an event where there are data, and counts for reconnecting in any case.
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
