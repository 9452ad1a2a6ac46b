// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleMessage

/// A request as a tape has it: the one that went to the origin, after the rules of its route.
package struct TapeRequest: Sendable, Equatable {
    package var method: String
    /// The scheme, `http` or `https`, with the authority and the path.
    package var url: String
    package var fields: Fields
    /// The whole body; empty if there is none.
    package var body: [UInt8]
    package var trailers = Fields()

    package init(
        method: String, url: String, fields: Fields = Fields(), body: [UInt8] = [], trailers: Fields = Fields()
    ) {
        (self.method, self.url, self.fields, self.body, self.trailers) = (method, url, fields, body, trailers)
    }
}

/// A response as a tape has it.
package struct TapeResponse: Sendable, Equatable {
    /// A part of a body, with the time of its arrival.
    package struct Piece: Sendable, Equatable {
        /// In milliseconds from the end of the request's head.
        package var time: Int
        /// The index behind its last byte.
        package var end: Int

        package init(time: Int, end: Int) { (self.time, self.end) = (time, end) }
    }

    package var head: ResponseHead
    /// `1.0`, `1.1` or `2`.
    package var version: String
    package var body: [UInt8]
    package var trailers = Fields()
    /// The parts of a body that came as a stream; empty if its timing does not matter.
    package var pieces: [Piece] = []
    /// The messages of a WebSocket in their order; nil if the response is none.
    package var messages: [TapeMessage]?

    package init(head: ResponseHead, version: String = "1.1", body: [UInt8] = [], trailers: Fields = Fields()) {
        (self.head, self.version, self.body, self.trailers) = (head, version, body, trailers)
    }
}

extension TapeResponse {
    /// - Parameter isWebSocket: true if the response has messages.
    /// - Returns: the reason why a response with this status cannot be played, as a clause; nil if it can.
    static func fault(ofStatus status: Int, isWebSocket: Bool) -> String? {
        switch (status, isWebSocket) {
        case (101, true), (200..., false): nil
        case (_, true): "the status is \(status), but messages of a WebSocket follow a 101 only"
        // A client that gets one waits for another response (RFC 9110 §15.2).
        case (_, false):
            "the status is \(status), which ends no exchange: give one from 200 to 999, or 101 with the messages of a WebSocket"
        }
    }
}

/// A message of a WebSocket.
package struct TapeMessage: Sendable, Equatable {
    /// In milliseconds from the handshake.
    package var time: Int
    package var isFromClient: Bool
    package var kind: Kind
    /// The content; of a close, its payload (RFC 6455 §5.5.1).
    package var bytes: [UInt8]

    package enum Kind: String, Sendable {
        case text, binary, close
    }

    package init(time: Int, isFromClient: Bool, kind: Kind, bytes: [UInt8]) {
        (self.time, self.isFromClient, self.kind, self.bytes) = (time, isFromClient, kind, bytes)
    }
}

/// One exchange with an origin, as a tape has it.
package struct Recording: Sendable, Equatable {
    /// The time at which the request was sent.
    package var time: Timestamp
    package var request: TapeRequest
    package var response: TapeResponse
    /// The time from the request to the head of the response, in milliseconds.
    package var headTime: Int
    /// The time from the request to the end of the response, in milliseconds.
    package var endTime: Int
    /// The ways in which the response broke the contract of its route, by their names in the log.
    package var violations: [String] = []
    /// The reason why a body is missing, as a clause; such a recording is never played. Nil if all is there.
    package var gap: String?

    package init(
        time: Timestamp, request: TapeRequest, response: TapeResponse, headTime: Int = 0, endTime: Int = 0
    ) {
        (self.time, self.request, self.response) = (time, request, response)
        (self.headTime, self.endTime) = (headTime, endTime)
    }
}
