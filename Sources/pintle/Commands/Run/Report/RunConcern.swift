// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// A kind of finding for which `--fail-on` makes the exit code of a successful run 1.
enum RunConcern: String, Sendable, CaseIterable {
    /// A request was denied, or a rule was violated.
    case violation
    /// A request failed for another reason: its server could not be reached, for example.
    case failure
    /// The command bypassed the proxy, or tried to.
    case bypass

    /// Reads a list such as `violation,bypass`; `never` is the empty list.
    static func list(_ text: String) throws(Malformed) -> Set<RunConcern> {
        if text == "never" { return [] }
        var concerns: Set<RunConcern> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let concern = RunConcern(rawValue: String(word)) else {
                let words = Self.allCases.map(\.rawValue)
                throw Malformed(
                    "some of \(words.joined(separator: ", ")) with commas between them, or never alone"
                        + String(word).hint(of: words))
            }
            concerns.insert(concern)
        }
        return concerns
    }
}
