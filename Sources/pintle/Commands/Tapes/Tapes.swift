// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleActivity
internal import PintleMessage
internal import PintleSerialization
internal import PintleTape

struct Tapes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List, show, lint and export recordings.",
        discussion: """
            A tape is a folder that a route with replay, or pintle run --record, has written: one readable file for each exchange, \
            with its bodies beside it. An HTTP archive (.har) is read as well.
            """,
        subcommands: [TapesList.self, TapesShow.self, TapesLint.self, TapesExport.self])
}

/// The argument that names a tape.
struct TapeArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The folder of the tape, or an HTTP archive.", valueName: "tape"), completion: .file())
    var path: String

    /// - Throws: ``CommandFailure`` if there is no such tape.
    func read() throws(CommandFailure) -> TapeContent {
        do throws(TapeError) {
            return try TapeContent(path: self.path)
        } catch {
            throw CommandFailure(.incomplete, "pintle tapes: \(error)")
        }
    }

    /// Reads the tape, and tells on standard error what cannot be read.
    func readWhole(_ command: String) throws(CommandFailure) -> TapeContent {
        let content = try self.read()
        for finding in content.findings { Output.error("\(command): \(finding.file): \(finding.message)") }
        return content
    }
}

enum TapeFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

struct TapesList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the recordings of a tape, in the order in which they are played.")

    @OptionGroup var tape: TapeArgument

    @Option(help: "How it is written.")
    var format = TapeFormat.text

    func run() throws {
        let content = try self.tape.readWhole("pintle tapes list")
        switch self.format {
        case .json:
            try Output.bytes(Array(Parameter.array(content.recordings.map(Self.document)).jsonText.utf8))
        case .text: try Self.write(content)
        }
    }

    private static func document(_ file: String, _ recording: Recording) -> Parameter {
        .object([
            ("file", .string(file)), ("recorded", .string(recording.time.description)),
            ("method", .string(recording.request.method)), ("url", .string(recording.request.url)),
            ("status", .integer(Int64(recording.response.head.status))),
            ("type", recording.response.head.fields["Content-Type"].map { .string($0) }),
            ("bytes", .integer(Int64(recording.response.body.count))),
            ("messages", recording.response.messages.map { .integer(Int64($0.count)) }),
            ("violations", recording.violations.isEmpty ? nil : .strings(recording.violations)),
            ("gap", recording.gap.map { .string($0) }),
        ])
    }

    private static func write(_ content: TapeContent) throws(CommandFailure) {
        guard !content.recordings.isEmpty else { return Output.error("pintle tapes list: the tape has no recordings") }
        let rows =
            [["FILE", "RECORDED", "STATUS", "BYTES", "METHOD"]]
            + content.recordings.map { file, recording in
                [
                    file, String(recording.time.description.prefix(19)), "\(recording.response.head.status)",
                    recording.gap == nil ? "\(recording.response.body.count)" : "too long", recording.request.method,
                ]
            }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for (row, url) in zip(rows, ["URL"] + content.recordings.map(\.recording.request.url)) {
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            try Output.prose("\(cells.joined(separator: "  "))  \(url)")
        }
    }
}

struct TapesShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a recording with its fields and bodies.")

    @OptionGroup var tape: TapeArgument

    @Argument(help: ArgumentHelp("The number of the recording in the list, from 1.", valueName: "number"))
    var number: Int

    func run() throws {
        let content = try self.tape.readWhole("pintle tapes show")
        guard content.recordings.indices.contains(self.number - 1) else {
            throw CommandFailure(
                .usage,
                "pintle tapes show: the tape has \(content.recordings.count) recordings, and no number \(self.number)")
        }
        let recording = content.recordings[self.number - 1].recording
        var lines = ["\(recording.request.method) \(recording.request.url)"] + Self.lines(recording.request.fields)
        lines += Self.body(recording.request.body, recording.request.trailers)
        let head = recording.response.head
        lines += ["", "HTTP/\(recording.response.version) \(head.status) \(head.reason)"] + Self.lines(head.fields)
        lines += Self.body(recording.response.body, recording.response.trailers)
        for message in recording.response.messages ?? [] {
            let text =
                message.kind == .text ? String(decoding: message.bytes, as: UTF8.self) : "\(message.bytes.count) bytes"
            lines.append("\(message.time) ms, \(message.isFromClient ? "client" : "server"): \(text)")
        }
        if let gap = recording.gap { lines.append("no body: \(gap)") }
        if !recording.violations.isEmpty { lines.append("violations: \(recording.violations.joined(separator: " "))") }
        lines.append(
            "recorded \(recording.time); head after \(recording.headTime) ms, end after \(recording.endTime) ms")
        try Output.data(lines.joined(separator: "\n"))
    }

    private static func lines(_ fields: Fields) -> [String] { fields.pairs.map { "\($0.name): \($0.value)" } }

    private static func body(_ bytes: [UInt8], _ trailers: Fields) -> [String] {
        let shown =
            bytes.isEmpty ? [] : [String(validating: bytes, as: UTF8.self) ?? "\(bytes.count) bytes that are no text"]
        return (shown.isEmpty ? [] : [""] + shown) + (trailers.isEmpty ? [] : [""] + Self.lines(trailers))
    }
}

struct TapesExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the recordings as an HTTP archive (HAR 1.2) to standard output.")

    @OptionGroup var tape: TapeArgument

    func run() throws {
        let content = try self.tape.readWhole("pintle tapes export: left out")
        let whole = content.recordings.map(\.recording).filter { $0.gap == nil }
        try Output.bytes(Array(TapeArchive.document(whole, version: Version.number).jsonText.utf8))
    }
}
