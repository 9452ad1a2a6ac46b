// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import PintleMessage

extension ScriptedOrigin {
    /// A request as it came, with its whole body.
    public struct Request: Sendable, Equatable, CustomStringConvertible {
        /// As it was sent: `GET`.
        public let method: String
        /// The path and the query as they were sent, with their percent-escapes: `/users?page=2`.
        public let target: String
        /// The field lines in the order in which they came.
        public let fields: Fields
        /// The body without its transfer coding; what a content coding did to it is not undone.
        public let body: [UInt8]
        /// Numbers the connections of the origin in the order in which they were accepted, from 1.
        public let connection: Int
        /// Numbers the requests of the connection, from 1: a larger number is a connection's reuse.
        public let numberOnConnection: Int

        /// The body as UTF-8; bytes that are none are replaced.
        public var text: String { String(decoding: self.body, as: UTF8.self) }

        /// Reads the body as JSON.
        ///
        /// - Throws: `DecodingError` when it is none, or not one of `Value`.
        public func json<Value: Decodable>(
            as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
        ) throws -> Value {
            try decoder.decode(type, from: Data(self.body))
        }

        /// Method and target, as they are in the keys of routes.
        public var description: String { "\(self.method) \(self.target)" }
    }
}
