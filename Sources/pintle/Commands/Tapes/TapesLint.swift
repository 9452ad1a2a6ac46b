// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleTape

struct TapesLint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Find secrets that were left in recordings, damage, and what is out of date.",
        discussion: """
            With -c, recordings are also judged by the contracts of their routes, and by recordings.max_age. Exit code 1 if \
            something was found.
            """)

    @OptionGroup var tape: TapeArgument

    @Option(
        name: [.customShort("c"), .customLong("config")],
        help: ArgumentHelp("The configuration whose contracts and max_age count.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(help: "How it is written.")
    var format = TapeFormat.text

    func run() async throws {
        var content = try self.tape.read()
        var policy: Policy?
        if let file { policy = try await ConfigurationOptions.load(file).policy }
        content.lint(olderThan: policy?.configuration.recordings.oldest(at: .now()))
        if let policy { RecordingContracts(policy).judge(&content) }
        switch self.format {
        case .json:
            try Output.bytes(Array(Parameter.array(content.findings.map(Self.document)).jsonText.utf8))
        case .text:
            for finding in content.findings {
                try Output.prose("\(finding.file): \(finding.kind.rawValue): \(finding.message)")
            }
        }
        let count = content.recordings.count
        guard content.findings.isEmpty else {
            throw CommandFailure(
                .found, "pintle tapes lint: \(content.findings.count) findings in \(count) recordings")
        }
        Output.error("pintle tapes lint: \(count) recordings, nothing found")
    }

    private static func document(_ finding: TapeFinding) -> Parameter {
        .object([
            ("file", .string(finding.file)), ("kind", .string(finding.kind.rawValue)),
            ("message", .string(finding.message)),
        ])
    }
}

/// Judges recordings by the contracts that their routes have now.
struct RecordingContracts {
    private let policy: Policy

    init(_ policy: Policy) { self.policy = policy }

    func judge(_ content: inout TapeContent) {
        for (file, recording) in content.recordings where recording.gap == nil && recording.response.messages == nil {
            guard let violation = self.violation(of: recording) else { continue }
            content.add(TapeFinding(file, .contract, violation))
        }
    }

    /// - Returns: a sentence; nil if the response keeps its contract, or the request has none.
    private func violation(of recording: Recording) -> String? {
        let request = recording.request
        let host = request.url.split(separator: "/", maxSplits: 2).dropFirst().first ?? ""
        var text = "\(request.method) \(request.url) HTTP/1.1\r\nHost: \(host)\r\n"
        for (name, value) in request.fields.pairs where name.lowercased() != "content-length" {
            text += "\(name): \(value)\r\n"
        }
        text += "Content-Length: \(request.body.count)\r\n\r\n"
        // A request that the configuration refuses, or answers itself, has no response to judge.
        guard let run = try? DryRun(Array(text.utf8) + request.body, policy: self.policy) else { return nil }
        return run.validator?.verdict(
            on: recording.response.head, body: recording.response.body,
            bodyBuffer: self.policy.configuration.limits.bodyBuffer)?.message
    }
}
