// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PintleSystem

/// A folder that goes with the command that has made it.
enum PrivateFolder {
    /// Makes one that everybody may read: programs that a child starts may be other users', as apt's are.
    ///
    /// - Parameters:
    ///   - command: whose it is.
    ///   - environment: `TMPDIR` says where it is made.
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
