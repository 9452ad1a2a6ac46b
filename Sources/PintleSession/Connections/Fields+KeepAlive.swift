// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

extension Fields {
    /// The time for which a connection may be used again when it is idle, by the Keep-Alive of a response (RFC 2068 §19.7.1.1): up to
    /// a second before its origin closes it. A request that crosses the close is lost. Nil if the origin says nothing valid.
    var timeForReuse: TimeAmount? {
        guard self.contains(.keepAlive) else { return nil }
        var time: TimeAmount?
        self.forEachToken(in: .keepAlive) { parameter in
            let (name, digits) = (parameter.prefix(8), parameter.dropFirst(8))
            // Another parameter, or a value that is no number of seconds.
            guard ASCII.equalsIgnoringCase(name, "timeout=".utf8), (1...9).contains(digits.count),
                digits.allSatisfy(ASCII.isDigit)
            else { return }
            let kept = TimeAmount.seconds(digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) })
            let margin: TimeAmount = min(.seconds(1), .nanoseconds(kept.nanoseconds / 2))
            time = kept - margin
        }
        return time
    }
}
