// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Keeps the descriptors of Pintle out of the child. Descriptors that Pintle inherited are passed on: shells name them in
/// arguments, as in `diff <(a) <(b)`.
struct OwnDescriptors {
    private let inherited: Set<Int32>

    /// Records the descriptors that are open now, before Pintle opens any.
    init() { self.inherited = Set(Self.open) }

    /// Closes all other descriptors at the start of the child's program (close-on-exec).
    func closeInChild() {
        for descriptor in Self.open where !self.inherited.contains(descriptor) {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    private static var open: [Int32] {
        FolderListing.names(in: "/proc/self/fd", most: .max).compactMap { Int32($0) }
    }
}
