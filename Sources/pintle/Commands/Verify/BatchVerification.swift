// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSerialization
internal import PintleTrust

/// Reads chains from standard input, one JSON line each, and writes each verdict to standard output at once.
struct BatchVerification {
    /// The maximum length of a line, which is read whole: more than any chain in a handshake can have.
    private static let longestLine = 16 << 20

    private var verifier: OfflineVerifier

    init(_ verifier: OfflineVerifier) {
        self.verifier = verifier
    }

    /// Processes lines until the input ends. A line that cannot be judged is answered like an untrusted chain.
    mutating func run() throws(CommandFailure) {
        guard let input = fdopen(STDIN_FILENO, "r") else { return }
        var buffer: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(buffer) }
        while true {
            let count = getline(&buffer, &capacity, input)
            guard count >= 0, let buffer else { return }
            let line = UnsafeRawBufferPointer(start: buffer, count: count)
            let bytes = Array(line[..<(line.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0)])
            guard !bytes.isEmpty else { continue }
            try Output.data(String(decoding: self.answer(to: bytes), as: UTF8.self))
        }
    }

    private mutating func answer(to line: [UInt8]) -> [UInt8] {
        var id = Parameter.null
        let error: String?
        do throws(BadLine) {
            guard line.count <= BatchVerification.longestLine else { throw BadLine("the line is longer than 16 MiB") }
            let document = try BatchVerification.document(line)
            id = document["id"] ?? .null
            error = try self.verdict(on: document).error.map(BatchVerification.words)
        } catch {
            return BatchVerification.encoded(id, error: error.reason)
        }
        return BatchVerification.encoded(id, error: error)
    }

    private mutating func verdict(on line: Parameter) throws(BadLine) -> Verdict {
        guard let chain = try BatchVerification.texts("chain", in: line) else { throw BadLine("\"chain\" is missing") }
        let roots = try BatchVerification.texts("roots", in: line)
        let host = try BatchVerification.text("host", in: line).map(ReferenceName.ascii)
        var moment = UnixTime.now
        if let text = try BatchVerification.text("at", in: line) {
            guard let read = UnixTime(iso8601: text) else {
                throw BadLine(
                    "\"at\" is no time, as in 2026-01-01T12:00:00Z: \(String(text.prefix(64)).debugDescription)")
            }
            moment = read
        }
        return self.verifier.verdict(chain: chain, roots: roots, host: host, at: moment)
    }

    // MARK: JSON

    /// The reason why a line cannot be judged.
    private struct BadLine: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private static func document(_ line: [UInt8]) throws(BadLine) -> Parameter {
        let document: Parameter
        do throws(JSONSyntaxError) {
            document = try JSONScanner().parse(line)
        } catch {
            throw BadLine("the line is not JSON: \(error)")
        }
        guard case .dictionary = document else { throw BadLine("the line is not a JSON object") }
        return document
    }

    private static func text(_ key: String, in line: Parameter) throws(BadLine) -> String? {
        switch line[key] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw BadLine("\"\(key)\" is not a string")
        }
    }

    private static func texts(_ key: String, in line: Parameter) throws(BadLine) -> [String]? {
        switch line[key] {
        case nil, .null: return nil
        case .string(let text): return [text]
        case .array(let elements):
            var texts: [String] = []
            for element in elements {
                guard case .string(let text) = element else {
                    throw BadLine("\"\(key)\" has a member that is not a string")
                }
                texts.append(text)
            }
            return texts
        default: throw BadLine("\"\(key)\" is not an array of PEM texts")
        }
    }

    /// Returns the error in words, preceded by the rule that decided, if any, for programs that count.
    private static func words(_ error: TrustError) -> String {
        error.rule.map { "\($0.rawValue): \(error)" } ?? "\(error)"
    }

    private static func encoded(_ id: Parameter, error: String?) -> [UInt8] {
        let answer = Parameter.dictionary([
            .init("id", id), .init("trusted", .bool(error == nil)),
            .init("error", error.map(Parameter.string) ?? .null),
        ])
        // Whatever was read as JSON can be written as JSON, unless the id is nested too deep; then it is null.
        let bytes = try? JSONWriter.write(answer)
        return bytes ?? Array("{\"id\":null,\"trusted\":false,\"error\":\"the id is nested too deep\"}".utf8)
    }
}
