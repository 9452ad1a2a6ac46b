// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

extension LoaderEnvironment {
    /// Size limit in bytes for the file of a value: tokens and passwords are small.
    private static var valueLimit: Int { 64 << 10 }

    /// Returns `text` with `env:NAME` or `file:PATH` replaced by its value. The reference is the whole text, or follows one
    /// word and a space, as in `Bearer env:TOKEN`.
    ///
    /// - Parameter resolve: turns a path as written into one that the process can open.
    package func value(
        of text: String, resolving resolve: (String) -> String = { $0 }
    ) throws(Malformed) -> String {
        guard let reference = ValueReference(text) else { return text }
        return reference.lead + (try self.value(at: reference.source, resolving: resolve))
    }

    private func value(at text: String, resolving resolve: (String) -> String) throws(Malformed) -> String {
        if text.hasPrefix("env:") {
            let name = String(text.dropFirst(4))
            guard let value = self.environment[name] else {
                throw Malformed("there is no environment variable \(name.excerpt)")
            }
            return value
        }
        let path = resolve(String(text.dropFirst(5)))
        self.noteValue(path)
        var bytes: [UInt8]
        do throws(ReadingError) {
            bytes = try self.read(path, Self.valueLimit)
        } catch {
            throw Malformed(error.words(for: path, limit: Self.valueLimit))
        }
        // Editors and `echo` end a file with a line break, which is not meant as part of the secret.
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed("the file is not UTF-8 text") }
        return text
    }
}

/// A text that names the source of a value.
package struct ValueReference {
    /// The word before the source, with its space; empty if there is none.
    let lead: String
    /// `env:NAME` or `file:PATH`.
    let source: String

    /// Reads a text; nil if it stands for itself.
    package init?(_ text: String) {
        if Self.isSource(text[...]) {
            (self.lead, self.source) = ("", text)
            return
        }
        guard let space = text.firstIndex(of: " "), FieldSyntax.isName(String(text[..<space])) else { return nil }
        let rest = text[text.index(after: space)...]
        guard Self.isSource(rest), !rest.hasPrefix("env:") || Self.isVariable(rest.dropFirst(4)) else { return nil }
        (self.lead, self.source) = (String(text[...space]), String(rest))
    }

    /// True if a text that stands for itself contains something that looks like a reference.
    package static func isSuspected(in text: String) -> Bool {
        guard ValueReference(text) == nil else { return false }
        return ["env:", "file:"].contains { mark in
            text.ranges(of: mark).contains { place in
                let previous = place.lowerBound == text.startIndex ? nil : text[text.index(before: place.lowerBound)]
                let next = text[place.upperBound...].first
                return previous?.isLetter != true && previous?.isNumber != true
                    && (next?.isLetter == true || next == "_" || next == "/" || next == ".")
            }
        }
    }

    private static func isSource(_ text: Substring) -> Bool { text.hasPrefix("env:") || text.hasPrefix("file:") }

    /// True if nothing stands before the source.
    var isWhole: Bool { self.lead.isEmpty }

    /// The variable that has the value; nil if a file has it.
    var variable: String? {
        self.source.hasPrefix("env:") ? String(self.source.dropFirst("env:".count)) : nil
    }

    /// The path, as written, of the file that has the value; nil if a variable has it.
    var file: String? { self.variable == nil ? String(self.source.dropFirst("file:".count)) : nil }

    static func isVariable(_ name: Substring) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                $0 == UInt8(ascii: "_") || ASCII.isDigit($0) || ASCII.lowercased($0) &- 0x61 < 26
            }
    }
}
