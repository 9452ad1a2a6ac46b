// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Handles `-o` with a device or a pipe, such as /dev/null, to which the body is written directly. A download would replace
/// it with a file.
enum OutputDevice {
    /// If `output` names a device or a pipe, makes it the standard output and sets `output` to nil.
    ///
    /// - Throws: an error if it cannot be opened.
    static func redirect(_ output: inout String?) throws(CommandFailure) {
        var status = stat()
        guard let path = output, pathStat(path, &status) == 0 else { return }
        guard ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { return }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0, dup2(descriptor, STDOUT_FILENO) >= 0 else {
            throw CommandFailure(.incomplete, "pintle fetch: -o \(path): cannot be written: \(SystemError.last)")
        }
        close(descriptor)
        output = nil
    }
}
