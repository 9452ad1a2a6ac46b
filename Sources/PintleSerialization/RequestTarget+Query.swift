// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension RequestTarget {
    /// Returns the target with `query` added after `?`, or after `&` if the path already has a `?`.
    ///
    /// - Parameter query: must not be empty.
    /// - Throws: `.unsupportedTarget` for authority and asterisk form, which have no query, and for a path with a fragment,
    ///   because a query cannot follow it; `.unserializable` for a query with bytes that a target must not have, which only
    ///   a query block can produce.
    func appending(query: String) throws(SerializationError) -> RequestTarget {
        guard query.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw SerializationError(
                .unserializable, "a query may not have spaces, “#”, control characters or non-ASCII characters.")
        }
        switch self {
        case .origin(let path):
            return .origin(path: try Self.path(path, query))
        case .absolute(let scheme, let authority, let path):
            return .absolute(scheme: scheme, authority: authority, path: try Self.path(path, query))
        case .authority, .asterisk:
            throw SerializationError(.unsupportedTarget, "only a target with a path can take a query.")
        }
    }

    private static func path(_ path: String, _ query: String) throws(SerializationError) -> String {
        guard !path.utf8.contains(UInt8(ascii: "#")) else {
            throw SerializationError(.unsupportedTarget, "a target with a fragment cannot take a query.")
        }
        return path + (path.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query
    }
}
