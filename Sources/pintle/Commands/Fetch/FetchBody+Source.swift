// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import PintleSerialization
internal import PintleSession
internal import PintleSystem

/// Opening a body for sending, as often as necessary.
extension FetchBody {
    /// The maximum size of a JSON document that cannot be read twice, and so is kept in memory until it is validated.
    private static let documentLimit = 64 << 20

    /// Returns the source of the body.
    ///
    /// - Throws: ``CommandFailure`` with `usage` for a document that is not JSON, and `incomplete` if it cannot be read.
    func source() throws(CommandFailure) -> UploadSource? {
        switch self {
        case .none: return nil
        case .bytes(let bytes): return .bytes(ByteBuffer(bytes: bytes))
        case .form(let form): return .multipart(form)
        case .json(let path): return try Self.document(path)
        }
    }

    /// Returns a JSON document. A regular file is validated in place and read again for sending, because it may be larger
    /// than memory.
    private static func document(_ path: String) throws(CommandFailure) -> UploadSource {
        let name = path == "-" ? "standard input" : path
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(name) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(name) }
        if path != "-", status.st_mode & S_IFMT == S_IFREG {
            guard
                let data = try? Data(
                    contentsOf: URL(fileURLWithPath: "/proc/self/fd/\(descriptor)"), options: .alwaysMapped)
            else {
                throw .unreadable(name)
            }
            try Self.refuse(data.withUnsafeBytes(Self.problem), in: name)
            return .file(path: path)
        }
        let bytes = try Self.readAll(descriptor, name)
        try Self.refuse(bytes.withUnsafeBytes(Self.problem), in: name)
        return .bytes(ByteBuffer(bytes: bytes))
    }

    private static func problem(of bytes: UnsafeRawBufferPointer) -> JSONSyntaxError? {
        do throws(JSONSyntaxError) {
            try JSONScanner(fragmentsAllowed: true).validate(bytes)
            return nil
        } catch {
            return error
        }
    }

    private static func refuse(_ problem: JSONSyntaxError?, in name: String) throws(CommandFailure) {
        if let problem { throw .usage("--json: \(name) is not JSON: \(problem)") }
    }

    private static func readAll(_ descriptor: Int32, _ name: String) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw .unreadable(name)
            }
            guard bytes.count + count <= Self.documentLimit else {
                throw CommandFailure(
                    .incomplete, "pintle fetch: --json: \(name) is over 64 MiB; put it into a file and name that")
            }
            bytes += piece[..<count]
        }
    }
}

extension CommandFailure {
    fileprivate static func unreadable(_ name: String) -> CommandFailure {
        CommandFailure(.incomplete, "pintle fetch: --json: \(name) cannot be read: \(SystemError.last)")
    }
}
