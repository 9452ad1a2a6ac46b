// SPDX-License-Identifier: Apache-2.0

/// The next step of a request's body.
enum BodyStep {
    /// There are bytes to send.
    case bytes
    /// There are none now.
    case wait
    case end
}
