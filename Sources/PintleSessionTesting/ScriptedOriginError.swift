// SPDX-License-Identifier: Apache-2.0

/// Tells why a ``ScriptedOrigin`` could not do what a test asked of it.
public struct ScriptedOriginError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// There is no port to listen on.
        case cannotListen
        /// The origin ended before what was waited for.
        case stopped
        /// The task that waited was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence that says what happened and what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { self.message }
}
