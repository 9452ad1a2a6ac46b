// SPDX-License-Identifier: Apache-2.0

/// The file in which a download grows, and its expected earlier content.
struct PartPlace: Sendable {
    enum Kind: Sendable {
        /// Beside its final file: an existing file must be empty or left by a download.
        case beside
        /// In a folder that others may share: the file must be new, and only this user may read it.
        case temporary
        /// A part that an earlier task has kept, and that the caller has passed in again.
        case kept
    }

    let path: String
    let kind: Kind
}
