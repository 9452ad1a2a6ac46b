// SPDX-License-Identifier: Apache-2.0

internal import Logging

/// The look of log lines for people at a terminal.
package enum TerminalStyle: String, Sendable, Codable {
    case plain, coloured

    /// The colours of ECMA-48 that every terminal has.
    enum Colour: Int {
        case faint = 2
        case red = 31
        case green = 32
        case yellow = 33
        case cyan = 36
    }

    /// Returns the text in a colour; unchanged in a plain style, or without a colour.
    func paint(_ text: String, _ colour: Colour?) -> String {
        guard self == .coloured, let colour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }
}

extension Logger.Level {
    /// The colour of the level's name on a terminal.
    var colour: TerminalStyle.Colour? {
        switch self {
        case .trace, .debug: .faint
        case .info, .notice: nil
        case .warning: .yellow
        case .error, .critical: .red
        }
    }
}
