// SPDX-License-Identifier: Apache-2.0

extension Surroundings {
    /// Files that a value comes from are small: tokens and passwords.
    private static var valueLimit: Int { 64 << 10 }

    /// `text` itself, or what it names as `env:NAME` or `file:PATH`.
    ///
    /// - Parameter resolve: the path as the process must open it.
    package func value(
        of text: String, resolving resolve: (String) -> String = { $0 }
    ) throws(Malformed) -> String {
        if text.hasPrefix("env:") {
            let name = String(text.dropFirst(4))
            guard let value = self.environment[name] else {
                throw Malformed("there is no environment variable \(name.excerpt)")
            }
            return value
        }
        guard text.hasPrefix("file:") else { return text }
        let path = resolve(String(text.dropFirst(5)))
        var bytes: [UInt8]
        do throws(ReadingError) {
            bytes = try self.read(path, Self.valueLimit)
        } catch {
            throw Malformed(error.words(for: path, limit: Self.valueLimit))
        }
        // Editors and `echo` end a file with a line end that nobody means as part of the secret.
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed("the file is not UTF-8 text") }
        return text
    }
}
