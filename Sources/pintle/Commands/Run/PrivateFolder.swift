// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PintleSystem

/// A temporary folder that is removed at the end of a command, by the word in its name.
enum PrivateFolder: String, CaseIterable {
    /// The files with which a command of `run` trusts the authority.
    case run
    /// Files of credentials, as a command of `run` sees them.
    case credentials
    /// The lists of name servers and of hosts, as a command of `run --isolate` sees them.
    case names
    /// The working directory of the programs of `doctor`.
    case doctor

    /// The name. Its last letters differ each time.
    private var name: String { "pintle-\(self.rawValue)-XXXXXX" }
    private var command: String { self == .doctor ? "doctor" : "run" }
    /// The path for people.
    var shown: String { "$TMPDIR/\(self.name)/" }

    /// Creates a folder that all users may read, because programs of a child may run as other users, as apt's do.
    ///
    /// - Parameter environment: its `TMPDIR` is the place of the folder; /tmp is if there is none, or if that of another user
    ///   was inherited.
    func make(_ environment: [String: String]) throws(CommandFailure) -> String {
        let base = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        do throws(SystemError) {
            return try self.make(in: base)
        } catch {
            if base != "/tmp", let folder = try? self.make(in: "/tmp") { return folder }
            throw CommandFailure(
                .incomplete, "pintle \(self.command): \(base): no folder can be made there: \(error)")
        }
    }

    private func make(in base: String) throws(SystemError) -> String {
        var template = "\(base)/\(self.name)".systemBytes.map(CChar.init(bitPattern:)) + [0]
        guard mkdtemp(&template) != nil, Glibc.chmod(template, 0o755) == 0 else { throw SystemError.last }
        return String(systemText: template)
    }
}
