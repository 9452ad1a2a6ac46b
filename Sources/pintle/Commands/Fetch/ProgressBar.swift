// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The progress of one transfer as one line of text. A pure value: equal states give equal lines.
struct ProgressBar: Equatable {
    enum Ending: Equatable {
        case done, failed
    }

    /// The name of the transfer.
    let name: String
    var sent: UInt64 = 0
    var expectedToSend: UInt64?
    var received: UInt64 = 0
    var expectedToReceive: UInt64?
    /// The number of bytes from an earlier transfer, which do not count for the speed of this one.
    var resumedAt: UInt64 = 0
    var elapsed: Duration = .zero
    var ending: Ending?

    private static let longestName = 24
    private static let shortestBar = 10

    init(_ name: String) { self.name = name.showable(keepingLines: false) }

    /// - Parameters:
    ///   - width: the maximum number of characters.
    ///   - isColoured: true if results are green or red; escape sequences do not count as characters.
    func line(width: Int, isColoured: Bool) -> String {
        let title = Self.fit(self.name, Self.longestName)
        let text: String
        switch self.ending {
        case .done: text = "\(title)  \(self.received.readableSize) in \(Self.time(self.elapsed))\(self.speed)"
        case .failed: text = "\(title)  failed after \(self.received.readableSize)"
        case nil: text = self.running(title, width)
        }
        let fitting = String(text.prefix(width))
        guard isColoured, let ending else { return fitting }
        return "\u{1B}[\(ending == .done ? 32 : 31)m\(fitting)\u{1B}[0m"
    }

    private func running(_ title: String, _ width: Int) -> String {
        // The body is sent before anything is received.
        let isSending = self.received == 0 && self.expectedToReceive == nil && self.sent > 0
        let (count, whole) = isSending ? (self.sent, self.expectedToSend) : (self.received, self.expectedToReceive)
        let verb = isSending ? "sent " : ""
        guard let whole, whole > 0 else { return "\(title)  \(verb)\(count.readableSize)\(self.speed)" }
        let fraction = min(1, Double(count) / Double(whole))
        let percent = String(Int(fraction * 100))
        let before = "\(title)  "
        let after =
            "\(String(repeating: " ", count: 4 - percent.count))\(percent)%  \(verb)\(count.readableSize)"
            + "\(self.speed)\(self.remaining(whole - min(count, whole)))"
        let space = width - before.count - after.count - 2
        guard space >= Self.shortestBar else { return before + after.drop { $0 == " " } }
        let filled = Int(fraction * Double(space))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: space - filled)
        return "\(before)[\(bar)]\(after)"
    }

    // MARK: Words

    /// The number of bytes that this transfer has sent and received.
    private var moved: UInt64 { self.sent + (self.received - min(self.received, self.resumedAt)) }

    private var bytesPerSecond: Double? {
        let seconds = self.elapsed / .seconds(1)
        return seconds >= 0.1 && self.moved > 0 ? Double(self.moved) / seconds : nil
    }

    private var speed: String { self.bytesPerSecond.map { "  \(UInt64($0).readableSize)/s" } ?? "" }

    private func remaining(_ bytes: UInt64) -> String {
        guard bytes > 0, let bytesPerSecond else { return "" }
        let seconds = Double(bytes) / bytesPerSecond
        return seconds < 360_000 ? "  \(Self.time(.seconds(Int64(seconds.rounded(.up)))))" : ""
    }

    /// Returns at most `width` characters of the name; the middle is cut out, so that extensions stay.
    private static func fit(_ name: String, _ width: Int) -> String {
        guard name.count > width else { return name }
        let end = (width - 1) / 2
        return "\(name.prefix(width - 1 - end))…\(name.suffix(end))"
    }

    /// Returns a duration for people: `0:05`, `12:34`, `1:00:00`.
    static func time(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return hours > 0 ? "\(hours):\(padded(minutes)):\(padded(rest))" : "\(minutes):\(padded(rest))"
    }
}

/// The lines of all running transfers, at the bottom of a terminal.
enum ProgressFrame {
    /// Returns the text that replaces the lines drawn last with `running`.
    ///
    /// - Parameters:
    ///   - drawn: the number of those lines.
    ///   - finished: lines that stay, above the others.
    static func text(over drawn: Int, finished: [String], running: [String]) -> String {
        var text = drawn > 0 ? "\r" : ""
        if drawn > 1 { text += "\u{1B}[\(drawn - 1)A" }
        if drawn > 0 { text += "\u{1B}[J" }
        return text + finished.map { "\($0)\n" }.joined() + running.joined(separator: "\n")
    }
}
