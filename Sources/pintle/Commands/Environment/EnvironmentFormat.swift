// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleAudit
internal import PintleMessage

/// The form in which an environment is written down, so that its reader takes it over whatever the values are.
enum EnvironmentFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case sh
    case fish
    case powershell
    case json
    case dotenv
    /// The file that `GITHUB_ENV` names.
    case github

    /// The format for a user whose login shell this is: fish reads no other, and everybody else that of sh.
    static func standard(shell: String?) -> EnvironmentFormat {
        shell?.split(separator: "/").last == "fish" ? .fish : .sh
    }

    /// The text that sets the variables, with a line end.
    func setting(_ variables: [ProxyEnvironment.Variable]) -> String {
        if self == .json { return Parameter.object(variables.map { ($0.name, .string($0.value)) }).jsonText }
        return variables.map { self.line(setting: $0) + "\n" }.joined()
    }

    /// The text that takes the variables away again. Files can only say that a variable is empty.
    func unsetting(_ names: [String]) -> String {
        if self == .json { return Parameter.object(names.map { ($0, .null) }).jsonText }
        return names.map { self.line(unsetting: $0) + "\n" }.joined()
    }

    private func line(setting variable: ProxyEnvironment.Variable) -> String {
        let (name, value) = (variable.name, variable.value)
        return switch self {
        case .sh: "export \(name)=\(Self.sh(value))"
        case .fish: "set -gx \(name) \(Self.fish(value))"
        case .powershell: "${Env:\(name)} = \(Self.powershell(value))"
        case .dotenv: "\(name)=\(Self.dotenv(value))"
        case .github: Self.github(name, value)
        case .json: preconditionFailure("BUG: JSON has no lines")
        }
    }

    private func line(unsetting name: String) -> String {
        switch self {
        case .sh: "unset \(name)"
        case .fish: "set -e \(name)"
        case .powershell: "Remove-Item -ErrorAction Ignore Env:\(name)"
        case .dotenv, .github: "\(name)="
        case .json: preconditionFailure("BUG: JSON has no lines")
        }
    }

    // MARK: Quoting

    /// Nothing is special between single quotation marks but the mark itself.
    private static func sh(_ value: String) -> String { "'\(value.mappingScalars { $0 == "'" ? "'\\''" : nil })'" }

    /// Between single quotation marks a backslash escapes the mark and itself.
    private static func fish(_ value: String) -> String {
        "'\(value.mappingScalars { $0 == "'" || $0 == "\\" ? "\\\($0)" : nil })'"
    }

    /// PowerShell takes typographic marks for the plain one, and any of them doubled for itself.
    private static func powershell(_ value: String) -> String {
        let marks: Set<Unicode.Scalar> = ["'", "\u{2018}", "\u{2019}", "\u{201A}", "\u{201B}"]
        return "'\(value.mappingScalars { marks.contains($0) ? "\($0)\($0)" : nil })'"
    }

    /// Readers differ: Docker's takes quotation marks as part of the value, so a value has them only where it needs them.
    private static func dotenv(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~/:@%+,=[]|*".utf8.contains(byte)
            }
        }
        if isPlain { return value }
        if !value.unicodeScalars.contains(where: { "'\n\r".unicodeScalars.contains($0) }) { return "'\(value)'" }
        let escaped = value.mappingScalars { scalar in
            switch scalar {
            case "\n": "\\n"
            case "\r": "\\r"
            case "\\", "\"", "$", "`": "\\\(scalar)"
            default: nil
            }
        }
        return "\"\(escaped)\""
    }

    /// A value of several lines stands between two lines that are none of its own.
    private static func github(_ name: String, _ value: String) -> String {
        guard value.unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" }) else { return "\(name)=\(value)" }
        let number = (0...).first { !value.contains("PINTLE_END_\($0)") } ?? 0
        return "\(name)<<PINTLE_END_\(number)\n\(value)\nPINTLE_END_\(number)"
    }
}

extension String {
    /// The text with some scalars replaced. Scalars, not characters: a mark that combines with a quotation mark would hide it.
    ///
    /// - Parameter replacement: what stands for a scalar; nil for itself.
    func mappingScalars(_ replacement: (Unicode.Scalar) -> String?) -> String {
        self.unicodeScalars.reduce(into: "") { text, scalar in
            if let other = replacement(scalar) { text += other } else { text.unicodeScalars.append(scalar) }
        }
    }
}
