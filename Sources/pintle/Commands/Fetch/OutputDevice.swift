// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// `-o` with a device or a pipe, such as /dev/null: it is written to as it is. A download would put a file in its place.
enum OutputDevice {
    /// Makes it the standard output where `output` names one, and takes the name away.
    ///
    /// - Throws: where it cannot be opened.
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
