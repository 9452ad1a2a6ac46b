// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PintleSystem

/// A temporary folder that is removed at the end of a command.
enum PrivateFolder {
    /// Creates a folder that all users may read, because programs of a child may run as other users, as apt's do.
    ///
    /// - Parameters:
    ///   - command: the name of the command, for the folder's name.
    ///   - environment: its `TMPDIR` is the place of the folder.
    static func make(_ command: String, _ environment: [String: String]) throws(CommandFailure) -> String {
        let base = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = "\(base)/pintle-\(command)-XXXXXX".systemBytes.map(CChar.init(bitPattern:)) + [0]
        guard mkdtemp(&template) != nil, Glibc.chmod(template, 0o755) == 0 else {
            throw CommandFailure(
                .incomplete, "pintle \(command): \(base): no folder can be made there: \(SystemError.last)")
        }
        return String(systemText: template)
    }
}
