// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The candidate with the fewest edits from this string, if they are few enough to be a slip: at most a third of its
    /// length, but one is always allowed.
    package func nearest(of candidates: [String]) -> String? {
        guard self.utf8.count <= 64 else { return nil }
        let written = self.lowercased().replacing("-", with: "_")
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = written.editDistance(to: candidate)
            guard distance <= max(1, candidate.utf8.count / 3), distance < best?.distance ?? .max else { continue }
            best = (candidate, distance)
        }
        return best?.candidate
    }

    /// The end of a sentence that refuses this string: `; did you mean NAME?`; empty if no candidate is near.
    package func hint(of candidates: [String]) -> String {
        self.nearest(of: candidates).map { "; did you mean \($0)?" } ?? ""
    }

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
