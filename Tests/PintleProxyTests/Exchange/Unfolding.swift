// SPDX-License-Identifier: Apache-2.0

import Foundation

/// JSON documents of 300,000 bytes that gzip folds to some hundred: a check needs several turns for them.
enum Unfolding {
    /// An empty array.
    static let good = Self.bytes(
        "H4sIAAAAAAAC/+3BAQ0AAAwCoCrv5d6/hj0ckAM" + String(repeating: "A", count: 385)
            + "gCFfwdv76eKTBAA=")
    /// An array that has no end.
    static let bad = Self.bytes(
        "H4sIAAAAAAAC/+3BQREAAAgDoCr2Wgft/7PHDsg" + String(repeating: "A", count: 386)
            + "ECRvQeJ/+4X45MEAA==")

    private static func bytes(_ text: String) -> [UInt8] { Array(Data(base64Encoded: text) ?? Data()) }
}
