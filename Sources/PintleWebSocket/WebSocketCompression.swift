// SPDX-License-Identifier: Apache-2.0

/// Settings for compressing messages, where the peer can do the same (permessage-deflate, RFC 7692).
///
/// Secrets should not be compressed together with what an attacker chooses: the length of the result tells of both.
public struct WebSocketCompression: Sendable, Hashable {
    /// True where the server is asked to compress each message by itself, which saves the client memory. Default false.
    public var serverNoContextTakeover = false
    /// True where the client compresses each message by itself. Default false.
    public var clientNoContextTakeover = false
    /// The logarithm of the farthest distance that the server's bytes may reach back, 8…15. What is less than 15 is asked
    /// of the server, and takes less of the client's memory. Default 15.
    public var serverMaxWindowBits = 15
    /// The same for the client's bytes. Default 15.
    public var clientMaxWindowBits = 15
    /// From 1, the fastest, to 9, which makes the fewest bytes. Default 6, as in zlib.
    public var level = 6
    /// The least bytes of a message that is compressed. Default 64.
    public var threshold = 64

    /// Makes settings with the defaults.
    public init() {}

    /// These settings, with each number within its range.
    var valid: WebSocketCompression {
        var valid = self
        valid.serverMaxWindowBits = min(max(self.serverMaxWindowBits, 8), 15)
        valid.clientMaxWindowBits = min(max(self.clientMaxWindowBits, 8), 15)
        valid.level = min(max(self.level, 1), 9)
        // Nothing at all cannot be compressed.
        valid.threshold = max(self.threshold, 1)
        return valid
    }
}
