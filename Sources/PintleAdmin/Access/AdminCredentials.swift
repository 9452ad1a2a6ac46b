// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The secrets of one admin endpoint. They live as long as the process.
package struct AdminCredentials: Sendable {
    /// Stands in a file that only this user can read, and behind `#` in the link. 43 characters.
    package let token: String
    /// The value of the cookie for which a browser trades the token. Other servers on this machine see the cookie, because
    /// cookies do not tell ports apart (RFC 6265 §8.5); so it is not the token, and dies with the process.
    let cookie: String

    /// The end of the path under which developer tools connect. They send neither token nor cookie, so the path is the secret.
    let devTools: String

    package init() { (self.token, self.cookie, self.devTools) = (Self.secret(), Self.secret(), Self.secret()) }

    /// The address for a browser's address bar that opens its developer tools, with the secret.
    ///
    /// - Parameter host: the name and port by which the browser reaches the endpoint.
    package func devToolsLink(host: String) -> String {
        // Without the view of a page, which Chromium's `inspector.html` has.
        "devtools://devtools/bundled/devtools_app.html?ws=\(host)\(self.devToolsPath)&panel=network"
    }

    /// The path under which developer tools connect.
    var devToolsPath: String { "/devtools/page/\(self.devTools)" }

    /// The name of the cookie. It has the port, so that a browser can be signed in to several endpoints.
    static func cookieName(port: UInt16) -> String { "pintle-\(port)" }

    func isToken(_ text: some StringProtocol) -> Bool { text.isSecret(self.token) }

    func isCookie(_ text: some StringProtocol) -> Bool { text.isSecret(self.cookie) }

    func isDevTools(_ text: some StringProtocol) -> Bool { text.isSecret(self.devTools) }

    /// 258 random bits.
    private static func secret() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var generator = SystemRandomNumberGenerator()
        return String((0..<43).map { _ in letters[Int(generator.next() & 63)] })
    }
}
