// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage
internal import PintleSerialization
internal import PintleSystem

extension TapeFolder {
    /// Adds a recording. Its secrets must be masked already.
    ///
    /// A lock on the folder keeps the numbers of two processes apart. All of a recording is written, or nothing.
    ///
    /// - Returns: the name of its document.
    /// - Throws: the system's error, with the file.
    package func add(_ recording: Recording) throws(TapeError) -> String {
        do throws(SystemError) {
            try FileWriting.makeFolder(self.path)
        } catch {
            throw TapeError(self.path, "\(error)")
        }
        let folder = open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw TapeError(self.path, "\(SystemError.last)") }
        defer { close(folder) }
        // Some file systems have no locks; the files are created exclusively there, too.
        while flock(folder, LOCK_EX) != 0, errno == EINTR {}
        let name = Self.name(try self.lastNumber() + 1, recording.request)
        var written: [String] = []
        do throws(TapeError) {
            try self.write(recording, name, &written)
        } catch {
            for file in written { unlink("\(self.path)/\(file)") }
            throw error
        }
        return "\(name).json"
    }

    private func write(_ recording: Recording, _ name: String, _ written: inout [String]) throws(TapeError) {
        var document = RecordingDocument(recording: recording)
        let (request, response) = (recording.request, recording.response)
        document.requestBody = try self.create(
            "\(name).request", Self.ending(request.fields, request.body), request.body, &written)
        document.responseBody = try self.create(
            "\(name).response", Self.ending(response.head.fields, response.body), response.body, &written)
        if let messages = response.messages {
            // Without a message, too: the file says that it is a WebSocket.
            document.messages = try self.createFile(
                "\(name).messages.jsonl", RecordingDocument.lines(of: messages), &written)
        }
        do throws(SystemError) {
            try FileWriting.replace("\(self.path)/\(name).json", with: Array(document.text.utf8))
        } catch {
            throw TapeError("\(self.path)/\(name).json", "\(error)")
        }
    }

    /// - Returns: nil for an empty body, which has no file.
    private func create(
        _ stem: String, _ ending: String, _ bytes: [UInt8], _ written: inout [String]
    ) throws(TapeError) -> RecordingDocument.BodyFile? {
        if bytes.isEmpty { return nil }
        return try self.createFile("\(stem).\(ending)", bytes, &written)
    }

    private func createFile(
        _ name: String, _ bytes: [UInt8], _ written: inout [String]
    ) throws(TapeError) -> RecordingDocument.BodyFile {
        do throws(SystemError) {
            try FileWriting.create("\(self.path)/\(name)", with: bytes)
        } catch {
            throw TapeError("\(self.path)/\(name)", "\(error)")
        }
        written.append(name)
        return RecordingDocument.BodyFile(
            name: name, size: bytes.count, checksum: RecordingDocument.BodyFile.checksum(bytes))
    }

    // MARK: Names

    /// `0001-GET-users-17` for the first recording, of a request for `/users/17`.
    private static func name(_ number: Int, _ request: TapeRequest) -> String {
        let digits = String(number)
        let path = request.url.firstRange(of: "://").map { request.url[$0.upperBound...].drop { $0 != "/" } } ?? ""
        var words = request.method
        for word in path.prefix(while: { $0 != "?" && $0 != "#" }).split(separator: "/") {
            let plain = String(decoding: word.utf8.prefix(40).filter(Self.isPlain), as: UTF8.self)
            if !plain.isEmpty { words += "-" + plain }
            if words.utf8.count > 60 { break }
        }
        let method = words.utf8.filter { Self.isPlain($0) }
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "-"
            + String(decoding: method.prefix(80), as: UTF8.self)
    }

    /// A point would end the name of a document.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || ASCII.isDigit(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// The ending of a body's file, by which editors know its format.
    private static func ending(_ fields: Fields, _ bytes: [UInt8]) -> String {
        let essence = fields[.contentType].map(MediaType.essence) ?? ""
        if MediaType.isJSON(essence) { return "json" }
        switch essence {
        case "text/html": return "html"
        case "text/css": return "css"
        case "text/csv": return "csv"
        case "text/javascript", "application/javascript": return "js"
        case "application/xml", "text/xml": return "xml"
        case "image/png": return "png"
        case "image/jpeg": return "jpg"
        case "image/gif": return "gif"
        case "image/webp": return "webp"
        case "image/svg+xml": return "svg"
        case "application/pdf": return "pdf"
        default: return String(validating: bytes, as: UTF8.self) == nil ? "bin" : "txt"
        }
    }
}
