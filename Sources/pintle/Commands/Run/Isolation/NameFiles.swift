// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleStub
internal import PintleSystem

/// The files that say how names are looked up, as a captured command sees them.
///
/// The list of name servers has neither domains to search nor servers on links that the command's network does not have. In that network
/// every name has an address if the rules allow it. With domains to search, the C library would ask for `api.example.corp.example` before
/// `api.example`, and the program would connect to that name, tell the other one in Host or handshake, and be refused; or a name that
/// the program has never asked for would be a finding. Pintle looks names up with the machine's own list, so that short names lead where
/// they do without isolation. With nothing but a server such as `fe80::1%eth0`, the C library would ask none.
///
/// The list of hosts has the machine's own names alone. Every program would find the others without asking: they would lead to the
/// command's own loopback, or to addresses that no rule knows by their names.
struct NameFiles {
    let copies: [CredentialFiles.Copy]
    private let folder: String

    /// The most bytes of a list of hosts. Some have a line for each of a million hosts that are not to be reached.
    private static let longestHosts = 64 << 20

    /// Makes copies of the files that the command cannot use as they are, in a folder of their own.
    ///
    /// - Returns: nil if it can use both.
    /// - Throws: an error if there is no place for the copies.
    static func make(_ environment: [String: String]) throws(CommandFailure) -> NameFiles? {
        let machine = Self.machineName
        var changed: [(path: String, text: String)] = []
        if let path = realpath("/etc/resolv.conf"),
            let text = ResolverFile.captured(FileBytes.text(path), hasOwnDomain: machine.contains("."))
        {
            changed.append((path, text))
        }
        if let path = realpath("/etc/hosts"), let bytes = FileBytes.read(path, upTo: Self.longestHosts),
            let text = HostsFile.captured(String(decoding: bytes, as: UTF8.self), machine: machine)
        {
            changed.append((path, text))
        }
        guard !changed.isEmpty else { return nil }
        let folder = try PrivateFolder.names.make(environment)
        var copies: [CredentialFiles.Copy] = []
        for (path, text) in changed {
            let copy = CredentialFiles.Copy(path: path, copy: "\(folder)/\(copies.count)")
            do throws(SystemError) {
                try FileWriting.create(copy.copy, with: Array(text.utf8))
                // Programs of other users look names up, as those of apt that root starts.
                try FileWriting.share(copy.copy)
            } catch {
                FileWriting.remove(folder)
                throw CommandFailure(.incomplete, "pintle run: \(path) cannot be copied: \(error)")
            }
            copies.append(copy)
        }
        return NameFiles(copies: copies, folder: folder)
    }

    /// The machine's own name; empty if it has none. If it is in a domain, the C library searches that unless the file says otherwise.
    private static var machineName: String {
        // HOST_NAME_MAX is 64 on Linux (gethostname(2)); a longer name would not end with a zero.
        var name = [CChar](repeating: 0, count: 65)
        guard gethostname(&name, 64) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the copies. A command that sees them goes on seeing them.
    func remove() { FileWriting.remove(self.folder) }
}
