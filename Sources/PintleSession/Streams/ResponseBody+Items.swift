// SPDX-License-Identifier: Apache-2.0

public import PintleSerialization

/// Views of a body as a sequence of items, read as they arrive.
///
/// Only the current item is kept in memory, up to its limit. Reading slowly slows the origin. A body that ends early,
/// or whose next item is malformed, throws after the items before it.
extension ResponseBody {
    /// Returns the body as lines of text in UTF-8, without their ends. A last line without an end counts too.
    ///
    /// - Parameters:
    ///   - ending: the end of a line.
    ///   - limit: the highest number of bytes of a line. Default 1 MiB.
    public func lines(ending: LineEnding = .lineFeed, limit: Int = 1 << 20) -> Lines {
        Lines(body: self, ending: ending, limit: limit)
    }

    /// Returns the body as JSON Lines (NDJSON): a value on each line. Lines of white space alone are skipped.
    ///
    /// - Parameters:
    ///   - limit: the highest number of bytes of a line. Default 1 MiB.
    ///   - decoder: makes the decoder of the whole body; if nil, one with Foundation's settings is used.
    public func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, limit: Int = 1 << 20,
        decoder: DecodableResponseSerializer<Value>.DecoderMaker? = nil
    ) -> JSONValues<Value> {
        JSONValues(body: self, limit: limit, makeDecoder: decoder)
    }

    /// Returns the body as an event stream (WHATWG HTML §9.2.6). An event that is incomplete when the body ends is
    /// dropped.
    ///
    /// ``Session/serverSentEvents(_:from:lastEventID:limit:reconnection:onChange:)`` also reconnects.
    ///
    /// - Parameters:
    ///   - limit: the highest number of bytes of an event, and of a line. Default 1 MiB.
    ///   - lastEventID: the last id of an earlier connection; events carry it until one brings another.
    public func serverSentEvents(limit: Int = 1 << 20, lastEventID: String = "") -> Events {
        Events(body: self, limit: limit, lastEventID: lastEventID)
    }

    /// Lines of text.
    public struct Lines: AsyncSequence, Sendable {
        let body: ResponseBody
        let ending: LineEnding
        let limit: Int

        /// Reads the body from its beginning.
        public func makeAsyncIterator() -> Iterator {
            Iterator(items: ParsedBody(self.body, TextLines(ending: self.ending, limit: self.limit)))
        }

        /// An iterator that waits for each line.
        public struct Iterator: AsyncIteratorProtocol {
            var items: ParsedBody<TextLines>

            /// The next line, or nil at the end.
            ///
            /// - Throws: ``SessionError`` as the body does; `TextStreamError` for a line that is too long or not UTF-8.
            @concurrent public mutating func next() async throws -> String? { try await self.items.next() }
        }
    }

    /// Values of JSON Lines.
    public struct JSONValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
        let body: ResponseBody
        let limit: Int
        let makeDecoder: DecodableResponseSerializer<Value>.DecoderMaker?

        /// Reads the body from its beginning.
        public func makeAsyncIterator() -> Iterator {
            Iterator(items: ParsedBody(self.body, JSONLines(limit: self.limit, decoder: self.makeDecoder)))
        }

        /// An iterator that waits for each value.
        public struct Iterator: AsyncIteratorProtocol {
            var items: ParsedBody<JSONLines<Value>>

            /// The next value, or nil at the end.
            ///
            /// - Throws: ``SessionError`` as the body does; `TextStreamError` with the line's number for a line that is
            ///   too long, not JSON, or not a value of this type.
            @concurrent public mutating func next() async throws -> Value? { try await self.items.next() }
        }
    }

    /// Events of an event stream.
    public struct Events: AsyncSequence, Sendable {
        let body: ResponseBody
        let limit: Int
        let lastEventID: String

        /// Reads the body from its beginning.
        public func makeAsyncIterator() -> Iterator {
            Iterator(
                items: ParsedBody(self.body, ServerSentEvents(limit: self.limit, lastEventID: self.lastEventID)))
        }

        /// An iterator that waits for each event.
        public struct Iterator: AsyncIteratorProtocol {
            var items: ParsedBody<ServerSentEvents>

            /// The value of Last-Event-ID for a new connection; empty for none.
            public var lastEventID: String { self.items.parser.consumer.lastEventID }
            /// The time to wait before reconnecting, if the stream has set one.
            public var retry: Duration? { self.items.parser.consumer.retry }

            /// The next event, or nil at the end.
            ///
            /// - Throws: ``SessionError`` as the body does; `TextStreamError` for an event or a line that is too long.
            @concurrent public mutating func next() async throws -> ServerSentEvent? { try await self.items.next() }
        }
    }
}
