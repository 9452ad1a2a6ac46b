// SPDX-License-Identifier: Apache-2.0

/// A configuration made from the rules of another proxy, and the settings that it lacks.
struct Conversion: Equatable {
    var policy: ConvertedPolicy
    var remarks: [ConversionRemark] = []

    /// True if the configuration allows something that the rules forbid.
    var isWeaker: Bool { self.remarks.contains { $0.effect == .weaker } }

    mutating func note(_ effect: ConversionRemark.Effect, _ line: Int?, _ text: String) {
        self.remarks.append(ConversionRemark(effect: effect, line: line, text: text))
    }
}

/// A setting of the other proxy that the configuration lacks, or has otherwise.
struct ConversionRemark: Equatable {
    /// The difference that it makes to the programs that use the proxy.
    enum Effect: String {
        /// The configuration allows something that the setting forbids.
        case weaker
        /// The configuration forbids something that the setting allows.
        case stricter
        /// No difference to permissions.
        case leftOut = "left out"
    }

    let effect: Effect
    /// The line of the setting; nil if it concerns the whole file.
    let line: Int?
    let text: String

    /// `file:line: effect: text`.
    func text(in file: String) -> String {
        "\(file)\(self.line.map { ":\($0)" } ?? ""): \(self.effect.rawValue): \(self.text)"
    }
}

/// The reason why rules cannot be converted.
struct ConversionError: Error, Equatable {
    enum Kind {
        /// The command line asks for something that the file does not have.
        case usage
        /// The file breaks the rules of its format.
        case malformed
        /// The rules cannot be expressed, or a file cannot be read.
        case incomplete
    }

    let kind: Kind
    let lines: [String]

    init(_ kind: Kind, lines: [String]) { (self.kind, self.lines) = (kind, lines) }

    init(_ kind: Kind, _ lines: String...) { self.init(kind, lines: lines) }

    init(_ kind: Kind, file: String, line: Int?, _ text: String) {
        self.init(kind, "\(file)\(line.map { ":\($0)" } ?? ""): \(text)")
    }
}
