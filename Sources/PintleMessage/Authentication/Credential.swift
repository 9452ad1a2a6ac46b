// SPDX-License-Identifier: Apache-2.0

/// A user name and a password. Descriptions and mirrors do not show the password.
public struct Credential: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The user name, without control characters.
    public let user: String
    /// The password, without control characters.
    public let password: String

    /// Makes a credential; nil for control characters, which no authentication scheme allows.
    package init?(checking user: String, _ password: String) {
        guard (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        self.user = user
        self.password = password
    }

    /// The user name, and that there is a password.
    public var description: String { "\(self.user) with a password" }

    /// The user name, and that there is a password.
    public var debugDescription: String { self.description }

    /// A mirror of the user name alone.
    public var customMirror: Mirror { Mirror(self, children: ["user": self.user]) }
}
