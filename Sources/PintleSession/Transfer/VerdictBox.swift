// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// Holds the verdict of one handshake for the attempt that began it.
final class VerdictBox: @unchecked Sendable {
    // Why @unchecked holds: a handshake and its attempt run on one loop's thread.
    var verdict: Verdict?
}
