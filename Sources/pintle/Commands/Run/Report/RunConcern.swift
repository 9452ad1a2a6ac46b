// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// A kind of thing that makes the exit code of a successful run 1, where `--fail-on` names it.
enum RunConcern: String, Sendable, CaseIterable {
    /// Something was denied or violated.
    case violation
    /// A request had no proper answer for another reason: its server could not be reached, for instance.
    case failure
    /// The command connected past the proxy, or tried to.
    case bypass

    /// Reads `violation,bypass`, or `never` for none.
    static func list(_ text: String) throws(Malformed) -> Set<RunConcern> {
        if text == "never" { return [] }
        var concerns: Set<RunConcern> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let concern = RunConcern(rawValue: String(word)) else {
                let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
                throw Malformed("some of \(words) with commas between them, or never alone")
            }
            concerns.insert(concern)
        }
        return concerns
    }
}
