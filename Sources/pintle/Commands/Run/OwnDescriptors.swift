// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Keeps the descriptors of Pintle out of the child. What Pintle was started with passes through: shells name such in
/// arguments, as in `diff <(a) <(b)`.
struct OwnDescriptors {
    private let inherited: Set<Int32>

    /// Notes those that are open now, before Pintle opens any.
    init() { self.inherited = Set(Self.open) }

    /// Has all others closed where the child's program begins.
    func closeInChild() {
        for descriptor in Self.open where !self.inherited.contains(descriptor) {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    private static var open: [Int32] {
        FolderListing.names(in: "/proc/self/fd", most: .max).compactMap { Int32($0) }
    }
}
