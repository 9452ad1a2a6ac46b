// SPDX-License-Identifier: Apache-2.0

/// The pace of a body: packets of a size, and a rest after each.
public struct Throttle: Sendable, Hashable {
    /// Bytes per packet, at least 1.
    public let packet: Int
    /// The rest after each packet.
    public let delay: Duration

    /// What AFNetworking proposes for a slow mobile network: 16 KiB every 200 ms.
    public static let slowMobile = Throttle(unchecked: 16 * 1024, delay: .milliseconds(200))

    /// Makes a pace.
    ///
    /// - Throws: ``SessionError`` with `invalidRequest` for a packet without bytes or a negative delay: either would
    ///   never end.
    public init(packet: Int, delay: Duration) throws(SessionError) {
        guard packet > 0 else { throw SessionError(.invalidRequest, "a throttle's packet has at least 1 byte") }
        guard delay >= .zero else { throw SessionError(.invalidRequest, "a throttle's delay is not negative") }
        self.init(unchecked: packet, delay: delay)
    }

    private init(unchecked packet: Int, delay: Duration) {
        self.packet = packet
        self.delay = delay
    }
}
