// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A pipe whose ends never block, and do not pass to programs that are started. Its owner closes them.
package struct NonBlockingPipe: Sendable {
    package let readingEnd: Int32
    package let writingEnd: Int32

    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .last }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (self.readingEnd, self.writingEnd) = (ends[0], ends[1])
    }
}
