// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSerialization
internal import PintleSystem

/// A tape as a folder: for each recording a document with its head, and files with its bodies.
///
/// The bodies are written first, and the document gets its name last. So a document without its bodies, or bodies without a
/// document, are the traces of a process that ended or of a full disk; they are told, and never played.
package struct TapeFolder: Sendable {
    /// The most recordings that are read.
    package static let mostRecordings = 100_000
    /// The maximum size of a document in bytes.
    static let longestDocument = 4 << 20
    /// The maximum size of a body in bytes.
    package static let longestBody = 64 << 20

    /// The path of the folder.
    package let path: String

    package init(_ path: String) { self.path = path }

    /// The names of its files, sorted; the documents among them are in the order of the recordings.
    ///
    /// - Throws: if there is no such folder, or it has more files than a tape may have.
    func names() throws(TapeError) -> [String] {
        var names: [String] = []
        try self.forEachName { names.append($0) }
        return names.map { (Self.number(of: $0) ?? .max, $0) }.sorted { $0 < $1 }.map(\.1)
    }

    /// The highest number of a file; 0 if there is none.
    func lastNumber() throws(TapeError) -> Int {
        var last = 0
        try self.forEachName { last = max(last, Self.number(of: $0) ?? 0) }
        return last
    }

    private func forEachName(_ take: (String) -> Void) throws(TapeError) {
        guard let folder = opendir(self.path) else { throw TapeError(self.path, "\(SystemError.last)") }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let name = String(nameIn: entry)
            if name == "." || name == ".." { continue }
            count += 1
            guard count <= Self.mostRecordings * 3 else {
                throw TapeError(self.path, "more than \(Self.mostRecordings * 3) files; divide the tape")
            }
            take(name)
        }
    }

    /// The number with which the name of a file begins; nil if it is none of a tape.
    static func number(of name: String) -> Int? {
        guard let hyphen = name.firstIndex(of: "-") else { return nil }
        let digits = name[..<hyphen]
        guard (4...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(digits)
    }

    /// True for the document of a recording. The names of bodies have one more part.
    static func isDocument(_ name: String) -> Bool {
        guard self.number(of: name) != nil, name.hasSuffix(".json") else { return false }
        return !name.dropLast(5).contains(".")
    }

    // MARK: Reading

    func document(_ name: String) throws(TapeError) -> RecordingDocument {
        try RecordingDocument(try self.bytes(name, upTo: Self.longestDocument), name: "\(self.path)/\(name)")
    }

    /// Reads the files of a document.
    func recording(_ document: RecordingDocument) throws(TapeError) -> Recording {
        var recording = document.recording
        recording.request.body = try self.body(document.requestBody)
        recording.response.body = try self.body(document.responseBody)
        if let file = document.messages {
            recording.response.messages = try RecordingDocument.messages(
                try self.body(file), name: "\(self.path)/\(file.name)")
        }
        if let last = recording.response.pieces.last, last.end > recording.response.body.count {
            throw TapeError(self.path, "\(document.responseBody?.name ?? "a body") ends before its last piece")
        }
        return recording
    }

    /// Reads a recording.
    func recording(_ name: String) throws(TapeError) -> Recording { try self.recording(try self.document(name)) }

    func body(_ file: RecordingDocument.BodyFile?) throws(TapeError) -> [UInt8] {
        guard let file else { return [] }
        let bytes = try self.bytes(file.name, upTo: Self.longestBody)
        if let mismatch = file.mismatch(bytes) { throw TapeError(self.path, mismatch) }
        return bytes
    }

    private func bytes(_ name: String, upTo limit: Int) throws(TapeError) -> [UInt8] {
        let path = "\(self.path)/\(name)"
        var status = stat()
        guard pathStat(path, &status) == 0 else { throw TapeError(path, "\(SystemError.last)") }
        // A pipe would never end.
        guard status.st_mode & S_IFMT == S_IFREG else { throw TapeError(path, "no file") }
        guard status.st_size <= limit, let bytes = FileBytes.read(path, upTo: limit) else {
            throw TapeError(path, status.st_size > limit ? "longer than \(limit) bytes" : "it cannot be read")
        }
        return bytes
    }
}
