// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleActivity
internal import PintleCoding
internal import PintleMessage
internal import PintleSerialization
internal import PintleSystem

/// The file of a recording without its bodies: JSON with one field a line.
struct RecordingDocument: Sendable {
    /// A file with a body, beside the document.
    struct BodyFile: Sendable, Equatable {
        var name: String
        /// The length in bytes, and the CRC-32 in hexadecimal, by which a file that was cut is told; nil if a person has removed
        /// them in order to change the body.
        var size: Int?
        var checksum: String?

        /// - Returns: the reason why the bytes are not those of the body; nil if they are.
        func mismatch(_ bytes: [UInt8]) -> String? {
            if let size, size != bytes.count { return "\(self.name) has \(bytes.count) bytes instead of \(size)" }
            guard let checksum, checksum != BodyFile.checksum(bytes) else { return nil }
            return "\(self.name) was changed; remove \"size\" and \"crc32\" from the recording if that is meant"
        }

        static func checksum(_ bytes: [UInt8]) -> String {
            var sum = CRC32()
            sum.update(bytes)
            let text = String(sum.value, radix: 16)
            return String(repeating: "0", count: 8 - text.count) + text
        }
    }

    /// The version of the form.
    static let version: Int64 = 1

    /// The recording without bodies and messages.
    var recording: Recording
    var requestBody: BodyFile?
    var responseBody: BodyFile?
    /// The messages of a WebSocket, as lines of JSON.
    var messages: BodyFile?

    // MARK: Writing

    var text: String {
        let (request, response) = (self.recording.request, self.recording.response)
        return Parameter.object([
            ("tape", .integer(Self.version)), ("recorded", .string(self.recording.time.description)),
            (
                "request",
                .object([
                    ("method", .string(request.method)), ("url", .string(request.url)),
                    ("fields", Self.lines(request.fields)), ("body", self.requestBody.map(Self.file)),
                    ("trailers", request.trailers.isEmpty ? nil : Self.lines(request.trailers)),
                ])
            ),
            (
                "response",
                .object([
                    ("status", .integer(Int64(response.head.status))), ("reason", .string(response.head.reason)),
                    ("http", .string(response.version)), ("fields", Self.lines(response.head.fields)),
                    ("body", self.responseBody.map(Self.file)),
                    ("trailers", response.trailers.isEmpty ? nil : Self.lines(response.trailers)),
                    (
                        "pieces",
                        response.pieces.isEmpty ? nil : .strings(response.pieces.map { "\($0.time) ms: \($0.end)" })
                    ),
                    ("messages", self.messages.map(Self.file)),
                ])
            ),
            (
                "milliseconds",
                .object([
                    ("head", .integer(Int64(self.recording.headTime))),
                    ("end", .integer(Int64(self.recording.endTime))),
                ])
            ),
            ("violations", self.recording.violations.isEmpty ? nil : .strings(self.recording.violations)),
            ("gap", self.recording.gap.map { .string($0) }),
        ]).jsonText
    }

    private static func lines(_ fields: Fields) -> Parameter {
        .strings(fields.pairs.map { "\($0.name): \($0.value)" })
    }

    private static func file(_ file: BodyFile) -> Parameter {
        .object([
            ("file", .string(file.name)), ("size", file.size.map { .integer(Int64($0)) }),
            ("crc32", file.checksum.map { .string($0) }),
        ])
    }

    /// The messages as lines of JSON.
    static func lines(of messages: [TapeMessage]) -> [UInt8] {
        messages.reduce(into: []) { bytes, message in
            let text = message.kind == .text ? String(validating: message.bytes, as: UTF8.self) : nil
            let line = Parameter.object([
                ("ms", .integer(Int64(message.time))), ("from", .string(message.isFromClient ? "client" : "server")),
                ("kind", .string(message.kind.rawValue)), ("text", text.map { .string($0) }),
                ("base64", text == nil ? .string(Data(message.bytes).base64EncodedString()) : nil),
            ])
            // JSON has a form for each of these values.
            bytes += ((try? JSONWriter.write(line)) ?? []) + [UInt8(ascii: "\n")]
        }
    }
}

// MARK: Reading

extension RecordingDocument {
    /// Reads the document.
    ///
    /// - Parameter name: the file, for errors.
    init(_ bytes: [UInt8], name: String) throws(TapeError) {
        let document: Parameter
        do throws(JSONSyntaxError) {
            document = try JSONScanner().parse(bytes)
        } catch {
            throw TapeError(name, "no JSON at line \(error.line): expected \(error.expected), found \(error.found)")
        }
        let reader = MemberReader(document, name)
        guard case .integer(Self.version)? = document["tape"] else {
            throw TapeError(name, "no recording of this version: \"tape\" is not \(Self.version)")
        }
        guard let seconds = ISO8601.seconds(Array(try reader.text("recorded").utf8)) else {
            throw TapeError(name, "\"recorded\" is no time such as 2026-01-02T03:04:05Z")
        }
        let (request, response) = (try reader.members("request"), try reader.members("response"))
        let status = try response.number("status", in: 100...999)
        if let reason = TapeResponse.fault(ofStatus: status, isWebSocket: try response.file("messages") != nil) {
            throw TapeError(name, reason)
        }
        var head = ResponseHead(status: UInt16(status), reason: response.optionalText("reason") ?? "")
        head.fields = try response.fields("fields")
        var answer = TapeResponse(head: head, version: response.optionalText("http") ?? "1.1")
        answer.trailers = try response.fields("trailers")
        answer.pieces = try response.pieces()
        let times = try reader.members("milliseconds")
        self.recording = Recording(
            time: Timestamp(milliseconds: seconds * 1000),
            request: TapeRequest(
                method: try request.text("method"), url: try request.text("url"), fields: try request.fields("fields"),
                trailers: try request.fields("trailers")),
            response: answer, headTime: try times.number("head", in: 0...Self.longest),
            endTime: try times.number("end", in: 0...Self.longest))
        self.recording.violations = try reader.texts("violations")
        self.recording.gap = reader.optionalText("gap")
        self.requestBody = try request.file("body")
        self.responseBody = try response.file("body")
        self.messages = try response.file("messages")
    }

    /// A week, in milliseconds.
    private static let longest = 7 * 86_400_000

    /// Reads messages from lines of JSON.
    static func messages(_ bytes: [UInt8], name: String) throws(TapeError) -> [TapeMessage] {
        var messages: [TapeMessage] = []
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            let place = "\(name):\(number + 1)"
            guard let document = try? JSONScanner().parse(Array(line)) else { throw TapeError(place, "no JSON") }
            let reader = MemberReader(document, place)
            let from = try reader.text("from")
            guard from == "client" || from == "server" else {
                throw TapeError(place, "\"from\" is neither client nor server")
            }
            let (time, text) = (try reader.number("ms", in: 0...self.longest), reader.optionalText("text"))
            guard
                let content = text.map({ Array($0.utf8) })
                    ?? reader.optionalText("base64").flatMap({ Data(base64Encoded: $0) }).map({ Array($0) })
            else { throw TapeError(place, "a message has neither a text nor base64") }
            guard let kind = TapeMessage.Kind(rawValue: try reader.text("kind")) else {
                throw TapeError(place, "\"kind\" is neither text nor binary nor close")
            }
            messages.append(TapeMessage(time: time, isFromClient: from == "client", kind: kind, bytes: content))
        }
        return messages
    }
}

/// Reads the members of an object, with errors that name them.
private struct MemberReader {
    private let object: Parameter
    private let place: String

    init(_ object: Parameter, _ place: String) { (self.object, self.place) = (object, place) }

    func members(_ name: String) throws(TapeError) -> MemberReader {
        guard let value = self.object[name], case .dictionary = value else { throw self.error(name, "an object") }
        return MemberReader(value, self.place)
    }

    func text(_ name: String) throws(TapeError) -> String {
        guard let text = self.optionalText(name) else { throw self.error(name, "a text") }
        return text
    }

    func optionalText(_ name: String) -> String? {
        if case .string(let text)? = self.object[name] { text } else { nil }
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws(TapeError) -> Int {
        guard case .integer(let number)? = self.object[name], let value = Int(exactly: number), range.contains(value)
        else {
            throw self.error(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func texts(_ name: String) throws(TapeError) -> [String] {
        guard let value = self.object[name] else { return [] }
        guard case .array(let elements) = value else { throw self.error(name, "a list of texts") }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element else { throw self.error(name, "a list of texts") }
            texts.append(text)
        }
        return texts
    }

    func fields(_ name: String) throws(TapeError) -> Fields {
        var fields = Fields()
        for line in try self.texts(name) {
            guard let colon = line.firstIndex(of: ":") else { throw self.error(name, "lines as \"Name: value\"") }
            let (field, value) = (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
            guard FieldSyntax.isName(field), FieldSyntax.isValue(value) else {
                throw self.error(name, "lines as \"Name: value\"")
            }
            fields.append(field, value)
        }
        return fields
    }

    func pieces() throws(TapeError) -> [TapeResponse.Piece] {
        var (pieces, end) = ([TapeResponse.Piece](), 0)
        for text in try self.texts("pieces") {
            let parts = text.components(" ms: ")
            guard parts.count == 2, let time = Int(parts[0]), let next = Int(parts[1]), time >= 0, next >= end else {
                throw self.error("pieces", "lines as \"12 ms: 34\", of which each ends behind the one before")
            }
            pieces.append(TapeResponse.Piece(time: time, end: next))
            end = next
        }
        return pieces
    }

    func file(_ name: String) throws(TapeError) -> RecordingDocument.BodyFile? {
        guard self.object[name] != nil else { return nil }
        let file = try self.members(name)
        let path = try file.text("file")
        // A recording of another person must not read other files than those beside it.
        guard !path.isEmpty, !path.contains("/"), !path.hasPrefix("."), !path.utf8.contains(0) else {
            throw self.error(name, "a file beside the recording")
        }
        let size = file.object["size"] == nil ? nil : try file.number("size", in: 0...Int(Int32.max))
        return RecordingDocument.BodyFile(name: path, size: size, checksum: file.optionalText("crc32"))
    }

    private func error(_ name: String, _ expected: String) -> TapeError {
        TapeError(self.place, "\"\(name)\" is not \(expected)")
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [String] {
        guard let range = self.firstRange(of: separator) else { return [self] }
        return [String(self[..<range.lowerBound]), String(self[range.upperBound...])]
    }
}
