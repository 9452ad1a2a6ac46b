// SPDX-License-Identifier: Apache-2.0

/// A message that cannot be taken as it is; the connection that it came on has no known position any more and closes.
package struct WireError: Error, Sendable, Equatable {
    /// What to answer.
    package enum Code: Sendable, Equatable {
        /// 400: the message is malformed or ambiguous.
        case malformed
        /// 431: a limit on the header section.
        case headerTooLarge
        /// 501: a transfer coding that nobody here knows.
        case unknownTransferCoding
        /// 505: a major version other than 1.
        case versionNotSupported

        /// The status of the answer.
        package var status: UInt16 {
            switch self {
            case .malformed: 400
            case .headerTooLarge: 431
            case .unknownTransferCoding: 501
            case .versionNotSupported: 505
            }
        }
    }

    /// What to answer.
    package let code: Code
    /// What is wrong, as a sentence without the offending bytes: they may be hostile.
    package let message: String

    /// Makes an error.
    package init(_ code: Code = .malformed, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// Limits on a header section, and so on the memory that a client can take before it is known.
public struct HeadLimits: Sendable, Equatable {
    /// The whole head in bytes, the request line included.
    public var bytes: Int
    /// One line in bytes, the request line included.
    public var line: Int
    /// The number of field lines.
    public var count: Int

    /// Makes limits; the defaults are the configuration's.
    public init(bytes: Int = 64 * 1024, line: Int = 16 * 1024, count: Int = 256) {
        self.bytes = bytes
        self.line = line
        self.count = count
    }
}
