// SPDX-License-Identifier: Apache-2.0

/// Why a request could not be serialized, or its body not be read.
public struct SerializationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The parameters have a value that the format has no form for.
        case unserializable
        /// The text has characters that the chosen encoding lacks.
        case unencodable
        /// No such character encoding is known.
        case unknownEncoding = "unknown-encoding"
        /// A header name or value, or a user name, that may not stand in a field.
        case invalidField = "invalid-field"
        /// Parameters cannot be placed into a target of this form.
        case unsupportedTarget = "unsupported-target"
        /// Requests with this method cannot carry a body.
        case unsupportedMethod = "unsupported-method"
        /// A file cannot be sent: it is missing, no regular file, or may not be read. The path is the file's.
        case unreadableFile = "unreadable-file"
        /// The body to merge with is no form, JSON or property list, or is compressed.
        case unsupportedBody = "unsupported-body"
        /// The body to merge with is not what its Content-Type says.
        case malformedBody = "malformed-body"
        /// The body to merge with and the route's parameters are not both dictionaries.
        case unmergeable
        /// The body to merge with unfolds to more than may be held.
        case tooLarge = "too-large"
        /// A query block refused.
        case refused
    }

    /// What kind of failure it is.
    public let code: Code
    /// One sentence for people, without the path.
    public let message: String
    /// Where in the parameters the offending value is, as in `parameters.tags[2]`, or which file is to blame; nil where
    /// it is neither.
    public let path: String?
    /// The words of the error behind this one, if there is one.
    public let cause: String?

    /// Makes an error.
    public init(_ code: Code, _ message: String, path: String? = nil, cause: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.cause = cause
    }

    /// `path: message (cause)`.
    public var description: String {
        var text = self.path.map { "\($0): \(self.message)" } ?? self.message
        if let cause = self.cause { text += " (\(cause))" }
        return text
    }
}
