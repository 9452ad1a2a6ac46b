// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PintleActivity
internal import PintleMessage
internal import PintleSystem

/// A defect of a tape.
package struct TapeFinding: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A file cannot be read, or is not the one that was written.
        case broken
        /// A recording has no body, or a body no recording.
        case incomplete
        /// A secret was left.
        case secret
        /// A text may be a secret, as it looks like chance.
        case entropy
        /// The recording is older than `recordings.max_age`.
        case age
        /// The response breaks the contract of its route.
        case contract
    }

    package let file: String
    package let kind: Kind
    /// A sentence without a point, which does not quote secrets.
    package let message: String

    package init(_ file: String, _ kind: Kind, _ message: String) {
        (self.file, self.kind, self.message) = (file, kind, message)
    }

    /// - Parameter oldest: the time before which recordings are too old.
    /// - Returns: nil for a recording that is not too old.
    fileprivate init?(_ file: String, ageOf recording: Recording, _ oldest: Timestamp?) {
        guard let oldest, recording.time < oldest else { return nil }
        self.init(file, .age, "recorded at \(recording.time); record it anew")
    }

    /// Finds the recordings from before a time, in their order, without reading bodies. Files that cannot be read are passed over.
    ///
    /// - Parameter path: of a folder or an archive (`.har`).
    /// - Throws: if there is no such tape.
    package static func old(in path: String, before oldest: Timestamp) throws(TapeError) -> [TapeFinding] {
        if path.hasSuffix(".har") {
            let recordings = try TapeArchive.read(path).recordings
            return recordings.enumerated().compactMap { Self("entry \($0.offset + 1)", ageOf: $0.element, oldest) }
        }
        let folder = TapeFolder(path)
        return try folder.names().filter(TapeFolder.isDocument).compactMap { name in
            (try? folder.document(name)).flatMap { Self(name, ageOf: $0.recording, oldest) }
        }
    }
}

/// A tape read for people: its recordings with their files, and its defects.
package struct TapeContent: Sendable {
    package private(set) var recordings: [(file: String, recording: Recording)] = []
    package private(set) var findings: [TapeFinding] = []

    /// Reads a folder or an archive (`.har`), as far as it can be read.
    ///
    /// - Throws: if there is no such tape.
    package init(path: String) throws(TapeError) {
        if path.hasSuffix(".har") { try self.readArchive(path) } else { try self.readFolder(TapeFolder(path)) }
    }

    private mutating func readArchive(_ path: String) throws(TapeError) {
        let archive = try TapeArchive.read(path)
        self.recordings = archive.recordings.enumerated().map { ("entry \($0.offset + 1)", $0.element) }
        if let fault = archive.firstFault {
            self.findings.append(TapeFinding(path, .broken, "\(archive.faults) entries cannot be read; \(fault)"))
        }
    }

    private mutating func readFolder(_ folder: TapeFolder) throws(TapeError) {
        let names = try folder.names()
        var bodies: Set<String> = []
        for name in names where TapeFolder.isDocument(name) {
            do throws(TapeError) {
                let document = try folder.document(name)
                bodies.formUnion(
                    [document.requestBody, document.responseBody, document.messages].compactMap { $0?.name })
                let recording = try folder.recording(document)
                self.recordings.append((name, recording))
                if let gap = recording.gap { self.findings.append(TapeFinding(name, .incomplete, gap)) }
            } catch {
                self.findings.append(TapeFinding(name, .broken, error.description))
            }
        }
        for name in names where !TapeFolder.isDocument(name) && !bodies.contains(name) {
            guard TapeFolder.number(of: name) != nil else { continue }
            self.findings.append(TapeFinding(name, .incomplete, "no recording has this body; remove it"))
        }
    }

    /// Looks for secrets that were left, and for recordings from before a time.
    package mutating func lint(olderThan oldest: Timestamp?) {
        for (file, recording) in self.recordings {
            if let finding = TapeFinding(file, ageOf: recording, oldest) { self.findings.append(finding) }
            self.lint(recording, file)
        }
    }

    private mutating func lint(_ recording: Recording, _ file: String) {
        let (request, response) = (recording.request, recording.response)
        self.lint(request.url, "the URL", file)
        for (fields, place) in [
            (request.fields, "the request"), (request.trailers, "the trailers of the request"),
            (response.head.fields, "the response"), (response.trailers, "the trailers of the response"),
        ] {
            for (name, value) in fields.pairs {
                self.lint(value, "\(name) of \(place)", file)
                if !Self.randomFields.contains(name.lowercased()), Entropy.looksRandom(Array(value.utf8)) {
                    self.findings.append(TapeFinding(file, .entropy, "\(name) of \(place) looks like a secret"))
                }
            }
        }
        self.lint(request.body, "the body of the request", file)
        self.lint(response.body, "the body of the response", file)
        for (number, message) in (response.messages ?? []).enumerated() {
            self.lint(message.bytes, "message \(number + 1)", file)
        }
        let left = TapeRedaction().masked(request)
        if left.fields != request.fields {
            self.findings.append(TapeFinding(file, .secret, "credentials stand in a field of the request"))
        }
    }

    private mutating func lint(_ text: String, _ place: String, _ file: String) {
        let matches = SecretShapes.matches(in: text)
        for match in matches.prefix(Self.mostSecrets) {
            self.findings.append(TapeFinding(file, .secret, "\(match.kind) in \(place)"))
        }
        self.tellOthers(matches.count - Self.mostSecrets, place, file)
    }

    private mutating func lint(_ body: [UInt8], _ place: String, _ file: String) {
        let matches = SecretShapes.matches(in: body)
        var (line, counted) = (1, 0)
        for match in matches.prefix(Self.mostSecrets) {
            line += body[counted..<match.range.lowerBound].count { $0 == 0x0A }
            counted = match.range.lowerBound
            self.findings.append(TapeFinding(file, .secret, "\(match.kind) in \(place), line \(line)"))
        }
        self.tellOthers(matches.count - Self.mostSecrets, place, file)
    }

    /// The most secrets of a text that are told one by one.
    private static let mostSecrets = 20

    private mutating func tellOthers(_ count: Int, _ place: String, _ file: String) {
        if count > 0 { self.findings.append(TapeFinding(file, .secret, "\(count) more in \(place)")) }
    }

    /// Adds what another part has found.
    package mutating func add(_ finding: TapeFinding) { self.findings.append(finding) }

    /// Fields whose values are random, and no secrets.
    private static let randomFields: Set<String> = [
        "etag", "if-none-match", "if-match", "digest", "content-digest", "repr-digest", "content-md5", "traceparent",
        "tracestate", "sec-websocket-key", "sec-websocket-accept", "x-request-id", "x-amz-request-id", "x-amz-id-2",
        "x-amzn-requestid", "x-amzn-trace-id", "x-amz-cf-id", "x-amz-version-id", "x-amz-checksum-sha256",
        "x-azure-ref", "x-guploader-uploadid", "x-trace-id", "x-correlation-id", "cf-ray", "nel", "report-to",
        "content-security-policy", "user-agent", "via", "location", "link", "referer", "set-cookie", "cookie",
    ]
}

/// Tells random texts from others.
private enum Entropy {
    /// True if the bytes have a word of at least 32 letters and digits of both cases whose distribution looks like chance.
    static func looksRandom(_ bytes: [UInt8]) -> Bool {
        bytes.split { !TokenBytes.base64.has($0) && !TokenBytes.url64.has($0) }.contains { word in
            guard word.count >= 32 else { return false }
            let (lower, upper) = (
                word.contains { (0x61...0x7A).contains($0) }, word.contains { (0x41...0x5A).contains($0) }
            )
            return lower && upper && word.contains(where: ASCII.isDigit) && self.bits(word) >= 4.2
        }
    }

    /// The entropy of the bytes by their frequencies (Shannon), in bits for each.
    private static func bits(_ word: ArraySlice<UInt8>) -> Double {
        let counts = Dictionary(grouping: word) { $0 }.mapValues { Double($0.count) / Double(word.count) }
        return counts.values.reduce(0) { $0 - $1 * log2($1) }
    }
}
