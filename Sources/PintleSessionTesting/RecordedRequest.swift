// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import PintleMessage

/// A request that a ``RecordingSession`` has seen.
public struct RecordedRequest: Sendable, Equatable {
    /// The method.
    public let method: String
    /// The URL, absolute.
    public let url: HTTPURL
    /// The header section, without Host, framing and the cookies of the session's jar.
    public let fields: Fields
    /// The body as it would be sent; empty where there is none.
    public let body: [UInt8]

    /// The body as text in UTF-8; what is none becomes the replacement character.
    public var text: String { String(decoding: self.body, as: UTF8.self) }

    /// The body as a value in JSON.
    ///
    /// - Throws: what `decoder` throws.
    public func json<Value: Decodable>(as type: Value.Type, decoder: JSONDecoder = JSONDecoder()) throws -> Value {
        try decoder.decode(type, from: Data(self.body))
    }
}
