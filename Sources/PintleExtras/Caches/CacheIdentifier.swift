// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// The key of a cached value: a name, such as a URL, and an addition if one name has several values, such as the size to
/// which an image was scaled.
///
/// Both parts are compared separately: the name `a` with the addition `b` differs from the name `ab`.
public struct CacheIdentifier: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name.
    public var name: String
    /// The additional part; nil and an empty text are different.
    public var addition: String?

    /// Creates an identifier from a name.
    public init(_ name: String, addition: String? = nil) {
        self.name = name
        self.addition = addition
    }

    /// Creates an identifier from the normalized form of a request's URL.
    public init(_ url: HTTPURL, addition: String? = nil) { self.init(url.description, addition: addition) }

    /// Creates an identifier from a name.
    public init(stringLiteral name: String) { self.init(name) }
}
