// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import PintleMessage

/// A request that a ``RecordingSession`` has received.
public struct RecordedRequest: Sendable, Equatable {
    /// The method.
    public let method: String
    /// The absolute URL.
    public let url: HTTPURL
    /// The header section, without Host, framing and the cookies of the session's jar.
    public let fields: Fields
    /// The body as it would be sent; empty if there is none.
    public let body: [UInt8]

    /// The body as UTF-8; invalid bytes become the replacement character.
    public var text: String { String(decoding: self.body, as: UTF8.self) }

    /// Decodes the body as JSON.
    ///
    /// - Throws: the errors of `decoder`.
    public func json<Value: Decodable>(as type: Value.Type, decoder: JSONDecoder = JSONDecoder()) throws -> Value {
        try decoder.decode(type, from: Data(self.body))
    }
}
