// SPDX-License-Identifier: Apache-2.0

/// A scheme, a host and a port (RFC 9110 §4.3.1).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// http or https.
    public let scheme: Scheme
    /// The host and its port.
    public let authority: Authority

    /// Makes an origin.
    public init(_ scheme: Scheme, _ authority: Authority) {
        self.scheme = scheme
        self.authority = authority
    }

    /// The origin as in a URL, without a path.
    public var description: String { "\(self.scheme.rawValue)://\(self.authority.description(for: self.scheme))" }
}
