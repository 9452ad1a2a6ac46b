// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A field that requests of a route must have: one of the lines with its name has a value of this form. `*` stands for any
/// text, also for none; values are case-sensitive, names are not.
package struct HeaderPattern: Sendable, Hashable, CustomStringConvertible {
    /// The name of the field.
    package let name: String
    /// The value as the configuration spells it, since the value that `env:` or `file:` refers to may be secret.
    private let spelling: String
    let form: Glob

    /// Reads a pattern.
    ///
    /// - Parameters:
    ///   - value: the form of the value.
    ///   - spelling: the form as messages may show it.
    /// - Throws: the reason if routes cannot be chosen by this field, or if no value has this form.
    package init(_ name: String, _ value: String, spelled spelling: String) throws(Malformed) {
        guard FieldSyntax.isName(name) else { throw Malformed("not a field name") }
        switch FieldName(name) {
        case .host: throw Malformed("Host follows the request's target; write match.hosts")
        case .contentLength, .transferEncoding:
            throw Malformed("frames the message; Pintle writes it anew, and chooses no route by it")
        case .proxyAuthorization: throw Malformed("is between a client and this proxy; see clients.basic_auth")
        default: break
        }
        guard !value.isEmpty else { throw Malformed("no value has this form; write \"*\" for any") }
        guard FieldSyntax.isValue(value) else {
            throw Malformed("a field value has no control characters and no spaces at its ends")
        }
        guard value.utf8.count <= 1024 else { throw Malformed("a pattern has at most 1024 bytes") }
        self.name = name
        self.spelling = spelling
        self.form = Glob(value)
    }

    /// `X-Env: stag*`.
    package var description: String { "\(self.name): \(self.spelling)" }

    /// The form of the value, with `**` for a star, since a slash is a byte like any other.
    var allTokens: [PathPattern.Token] { self.form.allTokens }

    /// True if one of the field lines has such a value.
    func matches(_ fields: Fields) -> Bool { fields.contains(self.name) { self.form.matches($0) } }

    /// True if this matches every field that `other` matches, as far as that is obvious.
    func covers(_ other: HeaderPattern) -> Bool {
        self.name.lowercased() == other.name.lowercased() && self.form.covers(other.form)
    }
}
