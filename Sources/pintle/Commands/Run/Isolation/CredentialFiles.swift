// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem

/// Copies of the files that have the values of credentials, with placeholders in their place. An isolated command sees them at the
/// places of the files.
struct CredentialFiles: Sendable {
    struct Copy: Sendable {
        /// The file's path, absolute and without symbolic links.
        let path: String
        let copy: String
    }

    let copies: [Copy]
    /// The folder of the copies; nil if there are none.
    private let folder: String?

    /// The most bytes of a file.
    private static let limit = 1 << 20

    /// Makes the copies.
    ///
    /// - Parameter isIsolated: false if the command sees the same files as everything else.
    /// - Throws: an error if a file cannot be read or has no value, and if a credential would have no placeholder.
    static func prepare(
        _ credentials: [CredentialConfiguration], isIsolated: Bool, _ environment: [String: String]
    ) throws(CommandFailure) -> CredentialFiles {
        for credential in credentials where !isIsolated {
            let key = "pintle run: credentials.\(credential.name)"
            if !credential.files.isEmpty {
                throw CommandFailure(
                    .configuration, "\(key).files: only with --isolate a command sees other files")
            }
            if credential.variable == nil {
                throw CommandFailure(
                    .configuration,
                    "\(key): its value is in a file, which the command would read; use --isolate, or name a variable for "
                        + "its placeholder")
            }
        }
        let named = credentials.flatMap { credential in
            (credential.files + [credential.source].compactMap(\.self)).map { (name: credential.name, path: $0) }
        }
        guard isIsolated, !named.isEmpty else { return CredentialFiles(copies: [], folder: nil) }
        let folder = try PrivateFolder.credentials.make(environment)
        do throws(CommandFailure) {
            var copies: [Copy] = []
            for (name, path) in named {
                let key = "pintle run: credentials.\(name): \(path)"
                guard let real = realpath(path), let bytes = FileBytes.read(real, upTo: Self.limit) else {
                    throw CommandFailure(.incomplete, "\(key) cannot be read, or is over 1 MiB")
                }
                if copies.contains(where: { $0.path == real }) { continue }
                guard let hidden = Self.hiding(credentials, in: bytes) else {
                    throw CommandFailure(.configuration, "\(key) does not have the value of the credential")
                }
                let copy = Copy(path: real, copy: "\(folder)/\(copies.count)")
                do throws(SystemError) {
                    try FileWriting.create(copy.copy, with: hidden, mode: 0o600)
                } catch {
                    throw CommandFailure(.incomplete, "\(key) cannot be copied: \(error)")
                }
                copies.append(copy)
            }
            return CredentialFiles(copies: copies, folder: folder)
        } catch {
            FileWriting.remove(folder)
            throw error
        }
    }

    /// - Returns: nil if no value is in the bytes.
    private static func hiding(_ credentials: [CredentialConfiguration], in bytes: [UInt8]) -> [UInt8]? {
        // The longest first: a short value may be a part of a long one.
        let secrets = credentials.sorted { $0.value.utf8.count > $1.value.utf8.count }
        let hidden = secrets.reduce(bytes) { bytes, credential in
            bytes.replacing(Array(credential.value.utf8), with: Array((credential.placeholder ?? "").utf8))
        }
        return hidden == bytes ? nil : hidden
    }

    /// Removes the copies.
    func remove() { if let folder { FileWriting.remove(folder) } }
}
