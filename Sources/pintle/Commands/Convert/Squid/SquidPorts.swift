// SPDX-License-Identifier: Apache-2.0

/// The value of `ports` or `connect_ports` for the ports that Squid allows. Pintle lists ports one by one.
struct SquidPorts: Equatable {
    /// Nil if no port is left.
    private(set) var text: String?
    private(set) var comment: String?
    /// Ports that the value allows, and Squid does not.
    private(set) var denied: [Int] = []
    /// Ports that Squid allows, and the value does not.
    private(set) var leftOut: [String] = []

    /// Longer ranges are not spelled out.
    private static let longest = 64
    private static let all = 1...65_535

    /// - Parameters:
    ///   - ranges: in order, and apart from each other.
    ///   - isExposed: true if `auto` is a choice: it means any port while all listeners are on loopback.
    init(_ ranges: [ClosedRange<Int>], isConnect: Bool, isExposed: Bool) {
        if ranges == [Self.all] {
            self.text = "any"
            return
        }
        let web: [ClosedRange<Int>] = [80...80, 443...443, 1024...65_535]
        let unwanted = web.flatMap { web in
            Pieces.split(web, at: ranges.map { $0.clamped(to: web) }).filter { piece in
                !ranges.contains { $0.contains(piece.lowerBound) }
            }
        }
        let isLong = ranges.contains { $0.count > Self.longest }
        if !isConnect, isExposed, isLong, unwanted.reduce(0, { $0 + $1.count }) <= Self.longest {
            self.text = "auto"
            self.comment = "80, 443 and above 1023, as a listener is not on loopback"
            self.denied = unwanted.flatMap(Array.init)
            self.leftOut = ranges.filter { $0.upperBound < 1024 && $0 != 80...80 && $0 != 443...443 }.map(Self.spelled)
            return
        }
        let short = ranges.filter { $0.count <= Self.longest }
        self.leftOut = ranges.filter { $0.count > Self.longest }.map(Self.spelled)
        if !short.isEmpty { self.text = "[\(short.flatMap(Array.init).map(String.init).joined(separator: ", "))]" }
    }

    private static func spelled(_ range: ClosedRange<Int>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
    }
}
