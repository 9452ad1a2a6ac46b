// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// A Merkle tree that grows leaf by leaf (RFC 6962 §2.1). It keeps one digest for each binary digit of the number of its leaves.
package struct MerkleTree: Sendable {
    /// The roots of complete subtrees, the largest first: their sizes are the powers of two in ``count``.
    private var subtrees: [[UInt8]] = []
    /// The number of leaves.
    package private(set) var count = 0

    package init() {}

    package mutating func append(_ leaf: [UInt8]) {
        var root = RunningDigest.sha256([0] + leaf)
        var size = self.count
        while size & 1 == 1 {
            root = Self.node(self.subtrees.removeLast(), root)
            size >>= 1
        }
        self.subtrees.append(root)
        self.count += 1
    }

    /// The Merkle tree hash: 32 bytes.
    package var root: [UInt8] {
        guard let last = self.subtrees.last else { return RunningDigest.sha256([]) }
        return self.subtrees.dropLast().reversed().reduce(last) { Self.node($1, $0) }
    }

    private static func node(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { RunningDigest.sha256([1] + left + right) }
}
