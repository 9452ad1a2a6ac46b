// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization
internal import PintleSystem
internal import PintleTrust

/// A sequence of exchanges that cannot be changed unseen: the hash of each covers all before it, and a Merkle tree covers them too,
/// so that one can be shown without the others.
package struct ExchangeChain: Sendable {
    /// The hash of the last exchange: SHA-256 of the hash before it and of its own bytes. 32 zero bytes before the first.
    package private(set) var hash = [UInt8](repeating: 0, count: 32)
    private var tree = MerkleTree()

    package init() {}

    /// The number of exchanges.
    package var count: Int { self.tree.count }

    /// Adds an exchange by its bytes.
    package mutating func append(_ leaf: [UInt8]) {
        self.hash = RunningDigest.sha256(self.hash + leaf)
        self.tree.append(leaf)
    }

    /// The members of a statement that seal its exchanges.
    var members: [(String, Parameter?)] {
        [
            ("exchange_count", .integer(Int64(self.count))), ("last_hash", .string(self.hash.hexadecimal)),
            ("merkle_root", .string(self.tree.root.hexadecimal)),
        ]
    }
}
