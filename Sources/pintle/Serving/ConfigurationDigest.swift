// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleActivity
internal import PintleLoop
internal import PintleSystem
internal import PintleTrust

/// The digests of the files of a configuration, and of the lists that it fetches, which tell others which configuration was in
/// force.
///
/// Files of values (`file:PATH`) are left out, as are variables (`env:NAME`): short secrets could be guessed by their digests.
struct ConfigurationDigest: Sendable {
    /// The files by their paths, sorted, and then the lists by their URLs, with their SHA-256 in hexadecimal. The values of a query,
    /// of which one may be a token, are left out.
    let files: [(path: String, sha256: String)]

    /// - Throws: an error if a file has changed since it was read.
    init(_ files: ReadFiles) throws(CommandFailure) {
        var digests: [(String, String)] = []
        let values = files.values
        for (path, mark) in files.marks.sorted(by: { $0.key < $1.key }) where !values.contains(path) {
            var status = stat()
            // Folders count by their files, and a file that is not there counts for nothing.
            guard pathStat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            let digest = RunningDigest()
            do throws(SystemError) { try FileBytes.read(path) { digest.take($0) } } catch {
                throw CommandFailure(.incomplete, "\(path): cannot be read: \(error)")
            }
            guard let bytes = digest.finish(), FileMark(path) == mark else {
                throw CommandFailure(.incomplete, "\(path): it has changed since it was read; start again")
            }
            digests.append((path, bytes.hexadecimal))
        }
        let lists = files.lists.sorted { $0.key < $1.key }.map { (Redaction.on.url($0.key), $0.value) }
        self.files = digests + lists
    }

    /// The SHA-256 of all files, in hexadecimal: that of the lines which sha256sum(1) prints for them.
    var sha256: String {
        let lines = self.files.map { "\($0.sha256)  \($0.path.showingSystemBytes)\n" }.joined()
        return RunningDigest.sha256(Array(lines.utf8)).hexadecimal
    }
}
