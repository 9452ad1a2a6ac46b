// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Keeps the descriptors of Pintle out of the child. Descriptors that Pintle inherited are passed on, since shells name them in
/// arguments, as in `diff <(a) <(b)`; to a command in a network of its own, only those that are exposed to it.
struct OwnDescriptors {
    let inherited: Set<Int32>

    /// Records the descriptors that are open now, before Pintle opens any.
    init() { self.inherited = Set(Self.open) }

    /// Closes all other descriptors at the start of the child's program (close-on-exec).
    ///
    /// - Parameter exposed: the inherited descriptors that stay open beside the standard streams; nil for all of them.
    func closeInChild(except exposed: Set<Int32>? = nil) {
        let kept = exposed.map { self.inherited.intersection($0.union([STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO])) }
        for descriptor in Self.open where !(kept ?? self.inherited).contains(descriptor) {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    private static var open: [Int32] {
        FolderListing.names(in: "/proc/self/fd", most: .max).compactMap { Int32($0) }
    }
}
