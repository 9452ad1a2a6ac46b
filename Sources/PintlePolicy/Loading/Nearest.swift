// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The most candidates that are compared; among more of them one that is near is no wonder.
    private static let mostCandidates = 1000

    /// The candidate with the fewest edits from this string, if they are few enough to be a slip: at most a third of its
    /// length, but one is always allowed. Letter case counts for nothing, and `-` is `_`. Nil for a long string, and if there are
    /// many candidates.
    package func nearest(of candidates: [String]) -> String? {
        guard self.utf8.count <= 64, candidates.count <= Self.mostCandidates else { return nil }
        let written = self.plain
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let name = candidate.plain
            let most = max(1, name.utf8.count / 3)
            // Each byte that one has more than the other is an edit.
            guard abs(name.utf8.count - written.utf8.count) <= most else { continue }
            let distance = written.editDistance(to: name)
            guard distance <= most, distance < best?.distance ?? .max else { continue }
            best = (candidate, distance)
        }
        return best?.candidate
    }

    /// The end of a sentence that refuses this string: `; did you mean NAME?`; empty if no candidate is near.
    package func hint(of candidates: [String]) -> String {
        self.nearest(of: candidates).map { "; did you mean \($0)?" } ?? ""
    }

    /// The form in which names are compared.
    private var plain: String { self.lowercased().replacing("-", with: "_") }

    /// The least number of insertions, removals, substitutions and swaps of neighbours that turn this string into `other`.
    private func editDistance(to other: String) -> Int {
        let left = Array(self.utf8)
        let right = Array(other.utf8)
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            for (column, otherByte) in right.enumerated() {
                var distance = Swift.min(
                    last[column + 1] + 1, current[column] + 1, last[column] + (byte == otherByte ? 0 : 1))
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == otherByte {
                    distance = min(distance, beforeLast[column - 1] + 1)
                }
                current.append(distance)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
