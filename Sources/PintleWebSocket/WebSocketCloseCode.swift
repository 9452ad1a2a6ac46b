// SPDX-License-Identifier: Apache-2.0

/// The reason why a WebSocket was closed (RFC 6455 §7.4, and the registry that it establishes).
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt16

    /// Creates a code from any number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The purpose of the connection is fulfilled: 1000.
    public static let normal = Self(rawValue: 1000)
    /// A server shuts down, or a program leaves the page or task: 1001.
    public static let goingAway = Self(rawValue: 1001)
    /// The peer violated the protocol: 1002.
    public static let protocolError = Self(rawValue: 1002)
    /// The peer sent a kind of message that this endpoint does not accept: 1003.
    public static let unsupportedData = Self(rawValue: 1003)
    /// The Close had no code: 1005. Never on the wire.
    public static let noStatus = Self(rawValue: 1005)
    /// The connection ended without a Close: 1006. Never on the wire.
    public static let abnormal = Self(rawValue: 1006)
    /// The peer sent text that is not UTF-8, or data that cannot be decompressed: 1007.
    public static let invalidPayload = Self(rawValue: 1007)
    /// The peer violated a rule of the application: 1008.
    public static let policyViolation = Self(rawValue: 1008)
    /// The peer sent a message that is too long: 1009.
    public static let messageTooBig = Self(rawValue: 1009)
    /// A client needs an extension that the server did not accept: 1010.
    public static let mandatoryExtension = Self(rawValue: 1010)
    /// Something unexpected prevents the sender from continuing: 1011.
    public static let internalError = Self(rawValue: 1011)
    /// The server restarts: 1012.
    public static let serviceRestart = Self(rawValue: 1012)
    /// The server is overloaded: 1013.
    public static let tryAgainLater = Self(rawValue: 1013)
    /// A gateway received an invalid response from its upstream server: 1014.
    public static let badGateway = Self(rawValue: 1014)

    /// True if a Close may have this code: the registered codes except 1004, 1005, 1006 and 1015, those of libraries and
    /// frameworks (3000…3999), and private ones (4000…4999).
    public var mayBeSent: Bool {
        switch self.rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The number.
    public var description: String { "\(self.rawValue)" }
}
