// SPDX-License-Identifier: Apache-2.0

/// The reason why a request could not be serialized, or its body could not be read.
public struct SerializationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The parameters have a value that the format has no form for.
        case unserializable
        /// The text has characters that the chosen encoding lacks.
        case unencodable
        /// The character encoding is unknown.
        case unknownEncoding = "unknown-encoding"
        /// A field name, a field value or a user name is not allowed in a field.
        case invalidField = "invalid-field"
        /// Parameters cannot be placed into a target of this form.
        case unsupportedTarget = "unsupported-target"
        /// Requests with this method cannot carry a body.
        case unsupportedMethod = "unsupported-method"
        /// A file cannot be sent: it is missing, not a regular file, or not readable. ``path`` names the file.
        case unreadableFile = "unreadable-file"
        /// The body to merge with is not a form, JSON or a property list, or it is compressed.
        case unsupportedBody = "unsupported-body"
        /// The body to merge with does not match its Content-Type.
        case malformedBody = "malformed-body"
        /// The body to merge with and the route's parameters are not both dictionaries.
        case unmergeable
        /// The body to merge with is too large after decoding.
        case tooLarge = "too-large"
        /// A query block refused the parameters.
        case refused
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence for users, without the path.
    public let message: String
    /// The place of the offending value in the parameters, as in `parameters.tags[2]`, or the path of the offending file;
    /// nil if the error is about neither.
    public let path: String?
    /// The description of the error that caused this one, if there is one.
    public let cause: String?

    /// Makes an error.
    public init(_ code: Code, _ message: String, path: String? = nil, cause: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.cause = cause
    }

    /// `path: message (cause)`; path and cause only if they exist.
    public var description: String {
        var text = self.path.map { "\($0): \(self.message)" } ?? self.message
        if let cause = self.cause { text += " (\(cause))" }
        return text
    }
}
