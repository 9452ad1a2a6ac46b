// SPDX-License-Identifier: Apache-2.0

/// The pace of a body: packets of a fixed size, and a pause after each.
public struct Throttle: Sendable, Hashable {
    /// Bytes per packet, at least 1.
    public let packet: Int
    /// The pause after each packet.
    public let delay: Duration

    /// AFNetworking's proposal for a slow mobile network: 16 KiB every 200 ms.
    public static let slowMobile = Throttle(unchecked: 16 * 1024, delay: .milliseconds(200))

    /// Makes a pace.
    ///
    /// - Throws: ``SessionError`` with `invalidRequest` for a packet without bytes, with which the body would never
    ///   end, or a negative delay.
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
