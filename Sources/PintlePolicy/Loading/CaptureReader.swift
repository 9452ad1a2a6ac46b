// SPDX-License-Identifier: Apache-2.0

/// Reads `capture`.
enum CaptureReader {
    /// - Returns: nil after an error, and a nil configuration for `off`.
    static func read(_ node: StrictNode) -> CaptureConfiguration?? {
        if node.isOff { return .some(nil) }
        guard let map = node.map(.capture) else { return nil }
        guard let length = map["bodies"] else {
            node.report("the key \"bodies\" is missing: the most bytes to keep of a body, as in 64KiB")
            return nil
        }
        guard let bodies = length.byteCount(CaptureConfiguration.lengths) else { return nil }
        var capture = CaptureConfiguration(bodies: bodies)
        map.read("when", into: &capture.filter, Self.filter)
        return capture
    }

    private static func filter(_ node: StrictNode) -> ExchangeFilter? {
        node.parsed { text throws(Malformed) in
            do throws(FilterError) {
                return try ExchangeFilter(text)
            } catch {
                throw Malformed("is not a filter: \(error)")
            }
        }
    }
}
