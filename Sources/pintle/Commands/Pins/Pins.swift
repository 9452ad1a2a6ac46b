// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePins

struct Pins: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show, lint, convert and forecast pins.",
        subcommands: [PinsShow.self, PinsLint.self, PinsConvert.self, PinsForecast.self])
}

extension CommandFailure {
    /// Maps the kinds of errors to exit codes: invalid content is a configuration error. A file that cannot be read or
    /// written, or a format that cannot express the pins, leaves the work incomplete.
    init(_ command: String, _ error: PinFormatError) {
        let lines = error.description.split(separator: "\n").map { "\(command): \($0)" }
        let code: ProcessExit =
            switch error.kind {
            case .malformed: .configuration
            case .usage: .usage
            case .unreadable, .unwritable, .notCarried: .incomplete
            }
        self.init(code, lines: lines)
    }
}
