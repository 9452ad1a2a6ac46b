// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleTrust

/// The name of a version of the configuration, by which logs, metrics and the admin endpoint tell versions apart.
enum ConfigurationRevision {
    /// The first 16 hexadecimal digits of the SHA-256 of the names and contents of the files and of fetched lists; `embedded` for the configuration
    /// of the program itself.
    static func of(_ files: ReadFiles, _ origin: ConfigurationOrigin) -> String {
        if origin.path == nil { return "embedded" }
        let system = LoaderEnvironment.system(environment: [:])
        var bytes: [UInt8] = []
        for path in files.marks.keys.sorted() {
            // Folders, and files that have gone, count by their names.
            let content = (try? system.read(path, 16 << 20)) ?? []
            bytes += Array("\(path)\0\(content.count)\0".utf8) + content
        }
        for (url, sha256) in files.lists.sorted(by: { $0.key < $1.key }) { bytes += Array("\(url)\0\(sha256)\0".utf8) }
        let digest = (try? MessageDigest.sha256.digest(of: bytes)) ?? []
        return digest.prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0\(digits)" : digits
        }.joined()
    }
}
