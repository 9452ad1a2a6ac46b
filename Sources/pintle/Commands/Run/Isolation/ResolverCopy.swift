// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleStub
internal import PintleSystem

/// The list of name servers as a captured command sees it: the machine's, without domains to search, and without servers on links
/// that the command's network does not have.
///
/// In the command's network every name has an address if the rules allow it. With domains to search, the C library would ask for
/// `api.example.corp.example` before `api.example`, and the program would connect to that name, tell the other one in Host or
/// handshake, and be refused; or a name that the program has never asked for would be a finding. Pintle looks names up with the
/// machine's own list, so that short names lead where they do without isolation. With nothing but a server such as `fe80::1%eth0`, the
/// C library would ask none.
struct ResolverCopy {
    let copy: CredentialFiles.Copy
    private let folder: String

    /// Makes a copy, in a folder of its own.
    ///
    /// - Returns: nil if the command can use the machine's list.
    /// - Throws: an error if there is no place for the copy.
    static func make(_ environment: [String: String]) throws(CommandFailure) -> ResolverCopy? {
        guard let path = realpath("/etc/resolv.conf"),
            let text = ResolverFile.captured(FileBytes.text(path), hasOwnDomain: Self.hasOwnDomain)
        else { return nil }
        let folder = try PrivateFolder.names.make(environment)
        let copy = CredentialFiles.Copy(path: path, copy: "\(folder)/resolv.conf")
        do throws(SystemError) {
            try FileWriting.create(copy.copy, with: Array(text.utf8), mode: 0o644)
        } catch {
            FileWriting.remove(folder)
            throw CommandFailure(.incomplete, "pintle run: \(path) cannot be copied: \(error)")
        }
        return ResolverCopy(copy: copy, folder: folder)
    }

    /// True if the machine's own name is in a domain, which the C library searches unless the file says otherwise.
    private static var hasOwnDomain: Bool {
        // HOST_NAME_MAX is 64 on Linux (gethostname(2)); a longer name would not end with a zero.
        var name = [CChar](repeating: 0, count: 65)
        return gethostname(&name, 64) == 0 && name.contains(CChar(bitPattern: UInt8(ascii: ".")))
    }

    /// Removes the copy. A command that sees it goes on seeing it.
    func remove() { FileWriting.remove(self.folder) }
}
