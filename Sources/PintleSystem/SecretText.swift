// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// Compares with a secret, in a time that does not depend on the place of a difference.
    package func isSecret(_ secret: String) -> Bool {
        let (given, secret) = (Array(self.utf8), Array(secret.utf8))
        guard given.count == secret.count else { return false }
        // Both operators have the same precedence in Swift.
        return zip(given, secret).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
