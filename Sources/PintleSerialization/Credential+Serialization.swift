// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

extension Credential {
    /// Makes a credential.
    ///
    /// - Throws: `.invalidField` for control characters, which no authentication scheme allows.
    public init(user: String, password: String) throws(SerializationError) {
        guard let credential = Credential(checking: user, password) else {
            throw SerializationError(
                .invalidField, "a user name or password has control characters; check it for a line end and remove it.")
        }
        self = credential
    }

    /// An Authorization value for HTTP Basic in UTF-8, the only charset that a challenge can ask for (RFC 7617).
    ///
    /// - Throws: `.invalidField` for a user name with a colon.
    public func basicAuthorization() throws(SerializationError) -> String {
        try DefaultFields.basicAuthorization(user: self.user, password: self.password)
    }
}
