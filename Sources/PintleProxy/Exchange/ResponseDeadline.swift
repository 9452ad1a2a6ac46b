// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintlePolicy

/// Notifies an exchange when its origin is late (`placeholder_after`). After its release it does nothing.
final class ResponseDeadline {
    private let loop: Loop
    private let timer: LoopTimer

    /// - Returns: nil if the route has no such limit.
    init?(_ route: Route?, on loop: Loop, for exchange: Exchange) {
        guard let response = route?.configuration.response, let limit = response.placeholderAfter,
            let placeholder = response.placeholder
        else { return nil }
        self.loop = loop
        self.timer = LoopTimer { [weak exchange] in exchange?.originIsLate(placeholder, after: limit) }
        loop.arm(self.timer, at: .now() + TimeAmount(limit))
    }

    deinit { self.loop.disarm(self.timer) }
}
