// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// A place of messages whose content is masked in recordings (`recordings.redact`).
package enum RedactionRule: Sendable, Hashable {
    /// The value of each field of this name, in lower case.
    case field(String)
    /// The value of each parameter of this name in the query.
    case query(String)
    /// The values to which a JSON pointer (RFC 6901) leads, by its decoded segments.
    case json([String])
    /// The value of each parameter of this name in a form, plain or multipart.
    case form(String)

    /// Reads `Name`, `query:NAME`, `json:/POINTER` or `form:NAME`.
    ///
    /// - Throws: a sentence that says what is expected.
    package init(_ text: String) throws(TapeError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            guard FieldSyntax.isName(text) else {
                throw TapeError(
                    text.debugDescription, "expected the name of a field, query:NAME, form:NAME or json:/POINTER")
            }
            self = .field(text.lowercased())
            return
        }
        guard !parts[1].isEmpty else { throw TapeError(text.debugDescription, "a name is missing behind the colon") }
        switch parts[0] {
        case "query": self = .query(parts[1])
        case "form": self = .form(parts[1])
        case "json": self = .json(try Self.segments(parts[1]))
        default:
            throw TapeError(
                text.debugDescription, "\"\(parts[0]):\" is not known; expected query:NAME, form:NAME or json:/POINTER")
        }
    }

    /// Returns the decoded segments of a JSON pointer that begins with `/`.
    package static func segments(_ pointer: String) throws(TapeError) -> [String] {
        guard pointer.hasPrefix("/") else {
            throw TapeError(pointer.debugDescription, "a JSON pointer begins with /, for example /user/password")
        }
        return pointer.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            segment in
            let segment = String(decoding: segment, as: UTF8.self)
            var text = ""
            var rest = segment[...]
            while let character = rest.popFirst() {
                switch (character, rest.first) {
                case ("~", "1"?):
                    text.append("/")
                    rest = rest.dropFirst()
                case ("~", "0"?):
                    text.append("~")
                    rest = rest.dropFirst()
                default: text.append(character)
                }
            }
            return text
        }
    }
}
