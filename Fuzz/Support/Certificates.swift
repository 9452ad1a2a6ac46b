// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Up to `limit` pieces, each after a length of two bytes, as in the seeds of certificates; a last piece that is too
    /// short ends with the input.
    package func measuredPieces(limit: Int) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = self[...]
        while pieces.count < limit, rest.count >= 2 {
            let length = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(2)
            pieces.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return pieces
    }
}
