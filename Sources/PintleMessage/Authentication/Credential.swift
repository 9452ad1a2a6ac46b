// SPDX-License-Identifier: Apache-2.0

/// A user name and a password. Descriptions and mirrors do not show the password.
public struct Credential: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The user name, without control characters.
    public let user: String
    /// The password, without control characters.
    public let password: String

    /// Makes a credential.
    ///
    /// - Throws: `.invalidField` for control characters, which no authentication scheme allows.
    public init(user: String, password: String) throws(SerializationError) {
        guard (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw SerializationError(
                .invalidField, "a user name or password has control characters; check it for a line end and remove it.")
        }
        self.user = user
        self.password = password
    }

    /// An Authorization value for HTTP Basic in UTF-8, the only charset that a challenge can ask for (RFC 7617).
    ///
    /// - Throws: `.invalidField` for a user name with a colon.
    public func basicAuthorization() throws(SerializationError) -> String {
        try DefaultFields.basicAuthorization(user: self.user, password: self.password)
    }

    /// The user name, and that there is a password.
    public var description: String { "\(self.user) with a password" }

    /// The user name, and that there is a password.
    public var debugDescription: String { self.description }

    /// A mirror of the user name alone.
    public var customMirror: Mirror { Mirror(self, children: ["user": self.user]) }
}
