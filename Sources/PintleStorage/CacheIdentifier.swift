// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// What a cached value is known by: a name, such as a URL, and where one name has several values an additional part, such
/// as the size that an image was scaled to.
///
/// Both parts count: the name `a` with the addition `b` is not the name `ab`.
public struct CacheIdentifier: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name.
    public var name: String
    /// The additional part; none and an empty one are two.
    public var addition: String?

    /// Makes an identifier of a name.
    public init(_ name: String, addition: String? = nil) {
        self.name = name
        self.addition = addition
    }

    /// Makes an identifier of what a request asks for: its URL in normal form.
    public init(_ url: HTTPURL, addition: String? = nil) { self.init(url.description, addition: addition) }

    /// Makes an identifier of a name.
    public init(stringLiteral name: String) { self.init(name) }
}
