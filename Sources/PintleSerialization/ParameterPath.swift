// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// One step from a container of parameters to a member.
enum ParameterStep {
    case key(String)
    case index(Int)
}

/// An error about a value that a format has no form for, on its way up through the containers around the value.
///
/// Each container adds its own step as the error passes, so that paths cost nothing if there is no error.
struct Mismatch: Error {
    private let code: SerializationError.Code
    private let message: String
    /// The steps to the value, the innermost first.
    private var steps: [ParameterStep] = []
    private let hasPath: Bool

    init(_ message: String, code: SerializationError.Code = .unserializable) {
        self.init(code, message, hasPath: true)
    }

    private init(_ code: SerializationError.Code, _ message: String, hasPath: Bool) {
        self.code = code
        self.message = message
        self.hasPath = hasPath
    }

    /// Too many levels of containers. It has no path, because one with so many steps would not help a reader.
    static func nesting(beyond limit: Int) -> Mismatch {
        Mismatch(.unserializable, "more than \(limit) levels of nesting.", hasPath: false)
    }

    /// Names that are too long in total, because each is written again for every value below it.
    static func names(beyond limit: Int) -> Mismatch {
        Mismatch(
            .unserializable, "the names in it are more than \(limit >> 20) MiB; use shorter keys, or nest less deeply.",
            hasPath: false)
    }

    func inside(_ step: @autoclosure () -> ParameterStep) -> Mismatch {
        guard self.hasPath else { return self }
        var outer = self
        outer.steps.append(step())
        return outer
    }

    /// The error with the whole path.
    var error: SerializationError {
        SerializationError(self.code, self.message, path: Self.path(self.steps.reversed()))
    }

    /// `parameters.tags[2]`; keys that are not plain words are quoted: `parameters["a b"]`.
    private static func path(_ steps: some Sequence<ParameterStep>) -> String {
        steps.reduce(into: "parameters") { text, step in
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let key) where Self.isWord(key): text += ".\(key)"
            case .key(let key): text += "[\(Self.quoted(key))]"
            }
        }
    }

    private static func isWord(_ key: String) -> Bool {
        1...Self.longestKey ~= key.utf8.count
            && key.utf8.allSatisfy {
                $0 == 0x5F || $0 == 0x2D || ASCII.isDigit($0) || ASCII.lowercased($0) &- 0x61 < 26
            }
    }

    /// A key in quotes, shortened: it can be as long as a body, but the path must fit into a line of a log.
    private static func quoted(_ key: String) -> String {
        guard key.utf8.count > Self.longestKey else { return key.debugDescription }
        return (key.unicodeScalars.prefix(Self.longestKey).reduce(into: "") { $0.unicodeScalars.append($1) } + "…")
            .debugDescription
    }

    private static let longestKey = 64
}
