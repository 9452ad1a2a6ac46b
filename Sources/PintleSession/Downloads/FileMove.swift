// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// Moves a whole file so that its new name never stands for half of it.
enum FileMove {
    /// - Returns: zero, or the system's error number; the file is then still where it was.
    static func move(_ path: String, to destination: String, replacing: Bool) -> Int32 {
        let code = self.rename(path, destination, replacing)
        guard code == EXDEV else { return code }
        // Another file system: a copy beside the destination first.
        let copy = "\(destination).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        do {
            try FileManager.default.copyItem(atPath: path, toPath: copy)
        } catch {
            unlink(copy)
            return self.number(of: error)
        }
        let moved = self.sync(copy) ?? self.rename(copy, destination, replacing)
        unlink(moved == 0 ? path : copy)
        return moved
    }

    private static func rename(_ path: String, _ destination: String, _ replacing: Bool) -> Int32 {
        if replacing { return Glibc.rename(path, destination) == 0 ? 0 : errno }
        // Unlike rename, a link is never made over a file that is there.
        guard link(path, destination) == 0 else { return errno }
        unlink(path)
        return 0
    }

    private static func sync(_ path: String) -> Int32? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 ? nil : errno
    }

    private static func number(of error: any Error) -> Int32 {
        let error = error as NSError
        if error.domain == NSPOSIXErrorDomain { return Int32(error.code) }
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        return underlying.map { Int32($0.code) } ?? EIO
    }
}
