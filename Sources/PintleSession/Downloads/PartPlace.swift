// SPDX-License-Identifier: Apache-2.0

/// Where a download grows, and what may be there before it.
struct PartPlace: Sendable {
    enum Kind: Sendable {
        /// Beside the file that it becomes: what is there must have been left by a download, or be empty.
        case beside
        /// In a folder that others may share: nothing is there, and nobody else may read what comes.
        case temporary
        /// What an earlier task has kept, and the caller has given back.
        case kept
    }

    let path: String
    let kind: Kind
}
