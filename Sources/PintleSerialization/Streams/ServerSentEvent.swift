// SPDX-License-Identifier: Apache-2.0

/// An event of an event stream (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` if the stream names none.
    public var event: String
    /// The data; line feeds separate its lines. Bytes that are not UTF-8 are replaced.
    public var data: String
    /// The last event ID up to this event, perhaps from an earlier one; empty if there is none.
    public var id: String
    /// The time to wait before reconnecting, if the stream named it together with this event.
    public var retry: Duration?

    /// Makes an event.
    public init(event: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }
}
