// SPDX-License-Identifier: Apache-2.0

/// The reason why a ``ScriptedOrigin`` could not do what a test required.
public struct ScriptedOriginError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// There is no port to listen on.
        case cannotListen
        /// The origin ended before the awaited requests came.
        case stopped
        /// The task that waited was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public let code: Code
    /// The failure and its remedy, in one sentence.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { self.message }
}
