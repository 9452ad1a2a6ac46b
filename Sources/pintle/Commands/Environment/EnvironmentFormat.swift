// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleAudit
internal import PintleSerialization

/// The formats for variables of an environment. All values are quoted so that the reader gets them unchanged.
enum EnvironmentFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case sh
    case fish
    case powershell
    case json
    case dotenv
    /// The format of the file that `GITHUB_ENV` names.
    case github
    /// Rules of nftables, which are no variables.
    case nft

    /// Returns the default format for a login shell: fish reads only its own; all other shells read that of sh.
    static func standard(shell: String?) -> EnvironmentFormat {
        shell?.split(separator: "/").last == "fish" ? .fish : .sh
    }

    /// Returns the text that sets the variables, with a line end.
    func setting(_ variables: [ProxyEnvironment.Variable]) -> String {
        if self == .json { return Parameter.object(variables.map { ($0.name, .string($0.value)) }).jsonText }
        return variables.map { self.line(setting: $0) + "\n" }.joined()
    }

    /// Returns the text that removes the variables. The formats of files can only make a variable empty.
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
        case .json, .nft: preconditionFailure("BUG: \(self) has no lines of variables")
        }
    }

    private func line(unsetting name: String) -> String {
        switch self {
        case .sh: "unset \(name)"
        case .fish: "set -e \(name)"
        case .powershell: "Remove-Item -ErrorAction Ignore Env:\(name)"
        case .dotenv, .github: "\(name)="
        case .json, .nft: preconditionFailure("BUG: \(self) has no lines of variables")
        }
    }

    // MARK: Quoting

    /// Quotes a value with single quotation marks, between which only the mark itself is special.
    private static func sh(_ value: String) -> String { "'\(value.mappingScalars { $0 == "'" ? "'\\''" : nil })'" }

    /// Quotes a value with single quotation marks, between which a backslash escapes the mark and itself.
    private static func fish(_ value: String) -> String {
        "'\(value.mappingScalars { $0 == "'" || $0 == "\\" ? "\\\($0)" : nil })'"
    }

    /// Quotes a value. PowerShell treats typographic single quotation marks like the plain one; doubled, each stands for
    /// itself.
    private static func powershell(_ value: String) -> String {
        let marks: Set<Unicode.Scalar> = ["'", "\u{2018}", "\u{2019}", "\u{201A}", "\u{201B}"]
        return "'\(value.mappingScalars { marks.contains($0) ? "\($0)\($0)" : nil })'"
    }

    /// Quotes a value only if necessary, because readers differ: Docker's takes quotation marks as a part of the value.
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

    /// Writes a value. If it has several lines, it is enclosed by two lines with a mark that it does not contain.
    private static func github(_ name: String, _ value: String) -> String {
        guard value.unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" }) else { return "\(name)=\(value)" }
        let number = (0...).first { !value.contains("PINTLE_END_\($0)") } ?? 0
        return "\(name)<<PINTLE_END_\(number)\n\(value)\nPINTLE_END_\(number)"
    }
}

extension String {
    /// Returns the text with some scalars replaced. It maps scalars, not characters: a combining mark after a quotation
    /// mark would hide it.
    ///
    /// - Parameter replacement: returns the replacement of a scalar; nil keeps it.
    func mappingScalars(_ replacement: (Unicode.Scalar) -> String?) -> String {
        self.unicodeScalars.reduce(into: "") { text, scalar in
            if let other = replacement(scalar) { text += other } else { text.unicodeScalars.append(scalar) }
        }
    }
}
