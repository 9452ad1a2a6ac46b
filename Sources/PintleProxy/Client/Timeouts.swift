// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintlePolicy

/// The timeouts in the unit of the event loop, converted once because each request uses them several times.
struct Timeouts: Sendable {
    let head: TimeAmount
    let idle: TimeAmount
    let body: TimeAmount
    let tunnel: TimeAmount

    init(_ limits: LimitsConfiguration) {
        self.head = TimeAmount(limits.headerTimeout)
        self.idle = TimeAmount(limits.idleTimeout)
        self.body = TimeAmount(limits.bodyTimeout)
        self.tunnel = TimeAmount(limits.tunnelIdleTimeout)
    }
}
