// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// An exchange as one short line for people at a terminal: columns for the time, status, method, duration and size; then the URL,
/// what was remarkable, and the id, by which `pintle explain` tells more.
struct ExchangeSummary {
    /// The most characters of a URL. A long query would fill the screen.
    private static let longestURL = 160

    let record: ExchangeRecord
    let redaction: Redaction
    let style: TerminalStyle

    /// The line, without a line end. Nothing in it can control the terminal but the colours of `style`.
    var line: String {
        let record = self.record
        let columns = [
            self.style.paint(record.time.timeOfDay, .faint),
            self.style.paint(Self.left(record.status.map { "\($0)" }, 3), self.colour),
            Self.left(record.method.map(Self.harmless), 7),
            Self.right(record.duration.map(Self.words), 7),
            Self.right(record.bytesOut.map { UInt64($0).readableSize }, 9),
            record.url.map { Self.harmless(Self.shortened(self.redaction.url($0))) } ?? "-",
        ]
        let parts = columns + self.remarks + [self.style.paint(record.id, .faint)]
        return parts.joined(separator: "  ")
    }

    private var colour: TerminalStyle.Colour {
        if self.record.decision == "deny" { return .red }
        switch self.record.status ?? 0 {
        case 100..<300: return .green
        case 300..<400: return .cyan
        case 400..<500: return .yellow
        default: return .red
        }
    }

    /// The facts that most exchanges do not have.
    private var remarks: [String] {
        let record = self.record
        var remarks: [String] = []
        if let route = record.route { remarks.append("route \(Self.harmless(route))") }
        if let cache = record.cache { remarks.append("cache \(cache)") }
        switch record.source {
        case .recording, .mock, .fault: remarks.append(record.source?.rawValue ?? "")
        case .origin, .cache, .pintle, nil: break
        }
        var faults: [String] = []
        switch record.decision {
        case "deny": faults.append(record.rule.map { "denied by \($0)" } ?? "denied")
        case "would-deny": faults.append(record.rule.map { "would be denied by \($0)" } ?? "would be denied")
        default: break
        }
        // The words for a denial are those of its rule.
        if record.decision != "deny" || record.rule == nil {
            if !record.violations.isEmpty { faults.append(record.violations.map(\.rawValue).joined(separator: ", ")) }
            if let error = record.error { faults.append(self.redaction.text(error)) }
        }
        let colour: TerminalStyle.Colour = record.hasPassed ? .yellow : .red
        return remarks + faults.map { self.style.paint(Self.harmless($0), colour) }
    }

    /// The text with every character escaped that could control the terminal.
    private static func harmless(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.append(escaped: text, quoting: false)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func left(_ text: String?, _ width: Int) -> String {
        let text = text ?? "-"
        return text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String?, _ width: Int) -> String {
        let text = text ?? "-"
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func shortened(_ url: String) -> String {
        url.count > Self.longestURL ? "\(url.prefix(Self.longestURL - 1))…" : url
    }

    /// A duration for people: `34 ms`, `1.2 s`.
    private static func words(_ duration: Duration) -> String {
        let milliseconds = duration.roundedMilliseconds
        return milliseconds < 1000 ? "\(milliseconds) ms" : "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
    }
}
