// SPDX-License-Identifier: Apache-2.0

/// Why a WebSocket was closed (RFC 6455 §7.4, and the registry that it begins).
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt16

    /// Makes a code of any number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Everything was said: 1000.
    public static let normal = Self(rawValue: 1000)
    /// A server goes down, or a program goes on to something else: 1001.
    public static let goingAway = Self(rawValue: 1001)
    /// The peer has broken the protocol: 1002.
    public static let protocolError = Self(rawValue: 1002)
    /// The peer has sent a kind of message that nobody here takes: 1003.
    public static let unsupportedData = Self(rawValue: 1003)
    /// The Close had no code: 1005. Never on the wire.
    public static let noStatus = Self(rawValue: 1005)
    /// The connection has ended without a Close: 1006. Never on the wire.
    public static let abnormal = Self(rawValue: 1006)
    /// The peer has sent text that is not UTF-8, or data that cannot be inflated: 1007.
    public static let invalidPayload = Self(rawValue: 1007)
    /// The peer has broken a rule of the application: 1008.
    public static let policyViolation = Self(rawValue: 1008)
    /// The peer has sent a message that is too long: 1009.
    public static let messageTooBig = Self(rawValue: 1009)
    /// A client wanted an extension that the server has not agreed to: 1010.
    public static let mandatoryExtension = Self(rawValue: 1010)
    /// Something unexpected keeps the sender from going on: 1011.
    public static let internalError = Self(rawValue: 1011)
    /// The server starts anew: 1012.
    public static let serviceRestart = Self(rawValue: 1012)
    /// The server has too much to do: 1013.
    public static let tryAgainLater = Self(rawValue: 1013)
    /// A gateway had no good answer from behind it: 1014.
    public static let badGateway = Self(rawValue: 1014)

    /// True where a Close may have it: the registered codes but 1004, 1005, 1006 and 1015, those of libraries and frameworks
    /// (3000…3999), and private ones (4000…4999).
    public var mayBeSent: Bool {
        switch self.rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The number.
    public var description: String { "\(self.rawValue)" }
}
