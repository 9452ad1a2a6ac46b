// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import PintleMessage

extension ScriptedOrigin {
    /// A request as it was received, with its whole body.
    public struct Request: Sendable, Equatable, CustomStringConvertible {
        /// The method as it was sent: `GET`.
        public let method: String
        /// The path and the query as they were sent, with their percent-escapes: `/users?page=2`.
        public let target: String
        /// The field lines in the order in which they came.
        public let fields: Fields
        /// The body without its transfer coding; content codings are not decoded.
        public let body: [UInt8]
        /// The number of the connection, in the order in which the origin accepted them, from 1.
        public let connection: Int
        /// The number of the request on its connection, from 1: a larger number means that the connection was reused.
        public let numberOnConnection: Int

        /// The body as UTF-8; invalid bytes become the replacement character.
        public var text: String { String(decoding: self.body, as: UTF8.self) }

        /// Decodes the body as JSON.
        ///
        /// - Throws: `DecodingError` if it is not JSON, or not a `Value`.
        public func json<Value: Decodable>(
            as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
        ) throws -> Value {
            try decoder.decode(type, from: Data(self.body))
        }

        /// The method and the target, in the form of the keys of routes.
        public var description: String { "\(self.method) \(self.target)" }
    }
}
