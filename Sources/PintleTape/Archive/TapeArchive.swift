// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleCoding
internal import PintleMessage
package import PintleSerialization
internal import PintleSystem

/// A tape as an HTTP archive (HAR 1.2), read whole.
package struct TapeArchive: Sendable {
    /// The maximum size of an archive in bytes: it is in memory while it is played.
    static let longest = 256 << 20
    private static let longestEntry = 96 << 20

    package private(set) var recordings: [Recording] = []
    /// The number of entries that cannot be read.
    package private(set) var faults = 0
    /// The reason of the first of them, with its line.
    package private(set) var firstFault: String?

    /// - Throws: if the file cannot be read, is too large, or is no archive.
    package static func read(_ path: String) throws(TapeError) -> TapeArchive {
        var (archive, size, cutter) = (TapeArchive(), 0, ArchiveCutter(limit: Self.longestEntry))
        do throws(SystemError) {
            try FileBytes.read(path) { bytes in
                size += bytes.count
                guard size <= Self.longest else { return }
                cutter.feed(bytes) { part, bytes, line in if part == .entry { archive.add(bytes, line) } }
            }
        } catch {
            throw TapeError(path, "\(error)")
        }
        guard size <= Self.longest else { throw TapeError(path, "longer than \(Self.longest >> 20) MiB") }
        if cutter.isOpen { throw TapeError("\(path):\(cutter.lastLine)", "the file ends within the archive") }
        if archive.recordings.isEmpty {
            throw TapeError(path, archive.firstFault ?? "no HTTP archive: it has no entries")
        }
        return archive
    }

    private mutating func add(_ bytes: [UInt8]?, _ line: Int) {
        do throws(ArchiveFault) {
            guard let bytes else { throw ArchiveFault("an entry is longer than \(Self.longestEntry >> 20) MiB") }
            guard self.recordings.count < TapeFolder.mostRecordings else {
                throw ArchiveFault("more than \(TapeFolder.mostRecordings) entries")
            }
            guard let entry = try? JSONScanner().parse(bytes) else { throw ArchiveFault("an entry is no JSON") }
            // A request that reaches no proxy, or got no answer, cannot be played.
            if let recording = try Recording(archive: entry) { self.recordings.append(recording) }
        } catch {
            self.faults += 1
            if self.firstFault == nil { self.firstFault = "line \(line): \(error.reason)" }
        }
    }

    /// An archive of recordings.
    package static func document(_ recordings: [Recording], version: String) -> Parameter {
        ArchiveDocument.archive(
            recordings.map(\.archiveEntry), version: version, comment: "recordings, with their secrets masked")
    }
}

extension Recording {
    /// - Returns: nil for an entry without a request for http or https, or without a response.
    fileprivate init?(archive entry: Parameter) throws(ArchiveFault) {
        guard let request = entry["request"], let method = request.text("method"), let url = request.text("url") else {
            throw ArchiveFault("an entry has no request with a method and a url")
        }
        guard let response = entry["response"], let status = response.number("status"), (100...999).contains(status),
            let target = try? HTTPURL(url), method != "CONNECT"
        else { return nil }
        // Archives have no messages in a form that programs agree on.
        if let reason = TapeResponse.fault(ofStatus: Int(status), isWebSocket: false) { throw ArchiveFault(reason) }
        let time = entry.text("startedDateTime").flatMap { ISO8601.seconds(Array($0.utf8)) } ?? 0
        var head = ResponseHead(status: UInt16(status), reason: response.text("statusText") ?? "")
        // Archives have bodies without their content codings.
        head.fields = try Self.fields(response, without: ["content-encoding", "content-length", "transfer-encoding"])
        let content = response["content"]
        let body = ArchiveEntry.body(content) ?? []
        self.init(
            time: Timestamp(milliseconds: time * 1000),
            request: TapeRequest(
                method: method, url: target.description,
                fields: try Self.fields(request, without: ["host", "content-length", "transfer-encoding"]),
                body: ArchiveEntry.body(request["postData"]) ?? []),
            response: TapeResponse(head: head, version: Self.version(response), body: body))
        let size = content?.number("size") ?? 0
        if body.isEmpty, size > 0, !head.forbidsBody(to: method) { self.gap = "the archive has no content for it" }
    }

    private static func fields(_ message: Parameter, without names: Set<String>) throws(ArchiveFault) -> Fields {
        var fields = Fields()
        for line in try ArchiveEntry.lines(message.elements("headers")) where !line.name.hasPrefix(":") {
            if !names.contains(line.name.lowercased()) { fields.append(line.name, line.value) }
        }
        return fields
    }

    private static func version(_ response: Parameter) -> String {
        let version = response.text("httpVersion")?.lowercased() ?? ""
        return version.hasPrefix("h2") || version.hasPrefix("http/2") ? "2" : "1.1"
    }

    /// The recording as an entry.
    fileprivate var archiveEntry: Parameter {
        let (request, response) = (self.request, self.response)
        return .object([
            ("startedDateTime", .string(self.time.description)), ("time", .integer(Int64(self.endTime))),
            (
                "request",
                .object([
                    ("method", .string(request.method)), ("url", .string(request.url)), ("httpVersion", "HTTP/1.1"),
                    ("cookies", .array([])), ("headers", ArchiveDocument.headers(request.fields.pairs)),
                    ("queryString", ArchiveDocument.query(request.url)),
                    (
                        "postData",
                        request.body.isEmpty
                            ? nil
                            : .object(
                                [("mimeType", .string(request.fields[.contentType] ?? ""))]
                                    + ArchiveDocument.content(request.body, encodingName: "_encoding"))
                    ),
                    ("headersSize", .integer(-1)), ("bodySize", .integer(Int64(request.body.count))),
                ])
            ),
            (
                "response",
                .object([
                    ("status", .integer(Int64(response.head.status))), ("statusText", .string(response.head.reason)),
                    ("httpVersion", .string("HTTP/\(response.version)")), ("cookies", .array([])),
                    ("headers", ArchiveDocument.headers(response.head.fields.pairs)),
                    (
                        "content",
                        .object(
                            [
                                ("size", .integer(Int64(response.body.count))),
                                ("mimeType", .string(response.head.fields[.contentType] ?? "x-unknown")),
                            ] + ArchiveDocument.content(response.body, encodingName: "encoding"))
                    ),
                    ("redirectURL", .string(response.head.fields[.location] ?? "")), ("headersSize", .integer(-1)),
                    ("bodySize", .integer(Int64(response.body.count))),
                ])
            ),
            ("cache", .object([])),
            (
                "timings",
                .object([
                    ("send", .integer(0)), ("wait", .integer(Int64(self.headTime))),
                    ("receive", .integer(Int64(max(0, self.endTime - self.headTime)))),
                ])
            ),
        ])
    }
}
