// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// Calls of OkHttp's `CertificatePinner.Builder`, written in Kotlin and read from Kotlin or Java: `.add(host, pins…)`.
///
/// `*.name` stands for one label below a name, `**.name` for the name and everything below it.
enum OkHttpFormat {
    static func read(_ bytes: [UInt8], _ file: String) throws(PinFormatError) -> PinFormat.Content {
        let source = SourceText(try PinReader.text(bytes, file))
        var notes: [Note] = []
        for comment in source.comments {
            if let note = try Note(comment: comment.text, line: comment.line, file: file) { notes.append(note) }
        }
        var waiting = Notes(notes, file: file)
        var found: [(set: PinSet, pins: [Pin])] = []
        var places: [[PinnedHost]: Int] = [:]
        for call in source.calls(of: "add") {
            guard let pattern = call.arguments.first?.text, call.arguments.count > 1 else { continue }
            let isPinning = call.arguments.dropFirst().contains { $0.text.map(Self.looksLikePin) ?? false }
            guard isPinning || pattern.contains(".") else { continue }
            guard !call.isCutOff else {
                throw PinFormatError(
                    file: file, line: call.line, "the file ends before the call for \(pattern.shown) does")
            }
            var pins: [Pin] = []
            for argument in call.arguments.dropFirst() {
                guard let text = argument.text else {
                    throw PinFormatError(
                        file: file, line: argument.line,
                        "a pin of \(pattern.shown) is not written out; put the text itself in its place")
                }
                pins.append(try PinReader.pin(text, file: file, line: argument.line))
            }
            var set = PinSet()
            try waiting.apply(upTo: call.line, to: &set)
            set.hosts = [try Self.host(pattern, file, call.line)]
            // A pattern may be added several times, and has the pins of all its calls.
            if let index = places[set.hosts] {
                found[index].pins += pins
            } else {
                places[set.hosts] = found.count
                found.append((set, pins))
            }
        }
        try waiting.demandEnd()
        return PinFormat.Content(sets: found.map { $0.set.with($0.pins) }, remarks: [])
    }

    private static func looksLikePin(_ text: String) -> Bool {
        text.hasPrefix("sha256/") || text.hasPrefix("sha1/")
    }

    private static func host(_ pattern: String, _ file: String, _ line: Int) throws(PinFormatError) -> PinnedHost {
        if pattern.hasPrefix("**.") {
            return try PinReader.host(pattern.dropFirst(3), .itselfAndBelow, file: file, line: line)
        }
        if pattern.hasPrefix("*.") {
            return try PinReader.host(pattern.dropFirst(2), .oneLabelBelow, file: file, line: line)
        }
        return try PinReader.host(pattern, .itself, file: file, line: line)
    }

    static func write(_ sets: [PinSet], _ writer: inout PinWriter) throws(PinFormatError) {
        try PinSet.demandOwnHosts(sets, .okhttp)
        writer.lines = ["val certificatePinner = CertificatePinner.Builder()"]
        for (number, set) in sets.enumerated() {
            writer.loseCertificates(of: set)
            let notes = writer.notes(of: set, [.policy, .expires, .onExpiry, .maxAge, .reportURIs, .enforcement])
            let scopes: Set<PinnedHost.Scope> = [.itself, .itselfAndBelow, .oneLabelBelow]
            for host in try writer.names(of: set, number: number, scopes: scopes) {
                writer.lines += notes.map { "    // \($0)" }
                let star = host.scope == .itself ? "" : host.scope == .oneLabelBelow ? "*." : "**."
                let arguments = (["\(star)\(host.name)"] + set.pins.map(\.description)).map { "\"\($0)\"" }
                writer.lines.append("    .add(\(arguments.joined(separator: ", ")))")
            }
        }
        writer.lines.append("    .build()")
    }
}
