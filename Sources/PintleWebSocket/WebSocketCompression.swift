// SPDX-License-Identifier: Apache-2.0

/// Settings for the compression of messages, which is used if the peer supports it too (permessage-deflate, RFC 7692).
///
/// Secrets should not be compressed together with text that an attacker chooses: the length of the result reveals both.
public struct WebSocketCompression: Sendable, Hashable {
    /// True if the server is asked to compress each message independently, which saves the client memory. Default false.
    public var serverNoContextTakeover = false
    /// True if the client compresses each message independently. Default false.
    public var clientNoContextTakeover = false
    /// The base-2 logarithm of the server's window, the distance of its back references, 8…15. A value below 15 is
    /// requested from the server, and saves the client memory. Default 15.
    public var serverMaxWindowBits = 15
    /// The base-2 logarithm of the client's window, 8…15. Default 15.
    public var clientMaxWindowBits = 15
    /// The level from 1, the fastest, to 9, which produces the fewest bytes. Default 6, as in zlib.
    public var level = 6
    /// The minimum length of a message to be compressed, in bytes. Default 64.
    public var threshold = 64

    /// Creates settings with the defaults.
    public init() {}

    /// A copy of these settings with each number clamped to its range.
    var valid: WebSocketCompression {
        var valid = self
        valid.serverMaxWindowBits = min(max(self.serverMaxWindowBits, 8), 15)
        valid.clientMaxWindowBits = min(max(self.clientMaxWindowBits, 8), 15)
        valid.level = min(max(self.level, 1), 9)
        // An empty message cannot be compressed.
        valid.threshold = max(self.threshold, 1)
        return valid
    }
}
