// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// A body as a sequence of what it means, read as it arrives.
///
/// As little is kept as of the body itself: the item under way, up to its limit. Reading slowly slows the origin. A body
/// that ends early, or whose next item is not what it has to be, throws after the items before it.
extension ResponseBody {
    /// The body as lines of text in UTF-8, without their ends. A last line that has no end is one, too.
    ///
    /// - Parameters:
    ///   - ending: what ends a line.
    ///   - limit: the most bytes of a line. Default 1 MiB.
    public func lines(ending: LineEnding = .lineFeed, limit: Int = 1 << 20) -> Lines {
        Lines(body: self, ending: ending, limit: limit)
    }

    /// The body as JSON Lines (NDJSON): a value on each line. Lines of white space alone are passed over.
    ///
    /// - Parameters:
    ///   - limit: the most bytes of a line. Default 1 MiB.
    ///   - decoder: makes the decoder for the whole body; nil for one with Foundation's settings.
    public func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, limit: Int = 1 << 20,
        decoder: DecodableResponseSerializer<Value>.DecoderMaker? = nil
    ) -> JSONValues<Value> {
        JSONValues(body: self, limit: limit, makeDecoder: decoder)
    }

    /// The body as an event stream (WHATWG HTML §9.2.6). An event that is not complete when the body ends is none.
    ///
    /// ``Session/serverSentEvents(_:from:lastEventID:limit:reconnection:onChange:)`` reconnects, too.
    ///
    /// - Parameters:
    ///   - limit: the most bytes of an event, and of a line. Default 1 MiB.
    ///   - lastEventID: of an earlier connection, which the first events have until one brings another.
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

        /// Waits for one line after another.
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

        /// Waits for one value after another.
        public struct Iterator: AsyncIteratorProtocol {
            var items: ParsedBody<JSONLines<Value>>

            /// The next value, or nil at the end.
            ///
            /// - Throws: ``SessionError`` as the body does; `TextStreamError`, which says the line, for one that is too
            ///   long, not JSON, or not such a value.
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

        /// Waits for one event after another.
        public struct Iterator: AsyncIteratorProtocol {
            var items: ParsedBody<ServerSentEvents>

            /// What to say when reconnecting (Last-Event-ID); empty for nothing.
            public var lastEventID: String { self.items.parser.consumer.lastEventID }
            /// How long to wait before reconnecting, where the stream has told.
            public var retry: Duration? { self.items.parser.consumer.retry }

            /// The next event, or nil at the end.
            ///
            /// - Throws: ``SessionError`` as the body does; `TextStreamError` for an event or a line that is too long.
            @concurrent public mutating func next() async throws -> ServerSentEvent? { try await self.items.next() }
        }
    }
}
