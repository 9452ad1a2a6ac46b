// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
public import PintleSerialization
internal import PintleSystem

extension MultipartForm {
    /// Writes the whole body into a file, which replaces an existing one.
    ///
    /// Sent as `UploadSource.file(path:)` with the form's `contentType`, the file makes the same body. It has a length
    /// even if a part streams without one, and it can be sent again even if such a stream cannot.
    ///
    /// - Returns: the length of the file in bytes.
    /// - Throws: `SessionError` with `unreadableSource` if a part cannot be read, or `cannotWrite` with the system's
    ///   reason; `path` is then unchanged.
    @discardableResult
    public func write(to path: String) async throws(SessionError) -> UInt64 {
        let file = try await ThreadPool.shared.result { () throws(SessionError) -> OpenFile in
            // In the same folder, so that it can replace `path` in one step; readable by this user only, as is its
            // content.
            let name = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16))"
            return try DownloadFile.openLocked(name, isTemporary: true).file
        }
        do throws(SessionError) {
            let length = try await self.write(into: file)
            try await ThreadPool.shared.result { () throws(SessionError) in
                let code = FileMove.move(file.path, to: path, replacing: true)
                guard code == 0 else { throw .cannotWrite(path, code) }
            }
            return length
        } catch {
            await Self.remove(file)
            throw error
        }
    }

    private func write(into file: OpenFile) async throws(SessionError) -> UInt64 {
        let reader = FormUploadReader(self)
        var length: UInt64 = 0
        while let piece = try await reader.next() {
            guard !Task.isCancelled else { throw .cancelled }
            let offset = length
            try await ThreadPool.shared.result { () throws(SessionError) in
                try DownloadFile.write(piece, to: file.descriptor, at: offset, file.path)
            }
            length += UInt64(piece.readableBytes)
        }
        return length
    }

    private static func remove(_ file: OpenFile) async {
        // A file that cannot be removed stays; the caller throws the error that led here.
        try? await ThreadPool.shared.result { () throws(SessionError) in _ = unlink(file.path) }
    }
}
