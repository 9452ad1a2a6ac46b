// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Texts of the system: paths, arguments and environment variables. They are bytes, and UTF-8 only by convention.
///
/// A String would repair bytes that are not UTF-8, and would then name another file. So each byte that is not part of UTF-8
/// is stored as a private scalar, U+10FE80 to U+10FEFF, and becomes the byte again when it is passed to the system. Bytes
/// that encode one of these scalars are stored in the same way, so that every name is preserved.
extension String {
    package init(systemBytes bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.hasSystemBytes {
            self = text
            return
        }
        self.init()
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var index = bytes.startIndex
        reading: while true {
            let length: Int
            var scalar: Unicode.Scalar?
            switch parser.parseScalar(from: &rest) {
            case .valid(let encoded):
                length = encoded.count
                scalar = Unicode.UTF8.decode(encoded)
            case .error(let count): length = count
            case .emptyInput: break reading
            }
            let next = bytes.index(index, offsetBy: length)
            if let scalar, scalar.systemByte == nil {
                self.unicodeScalars.append(scalar)
            } else {
                self.unicodeScalars.append(contentsOf: bytes[index..<next].map(Unicode.Scalar.init(systemByte:)))
            }
            index = next
        }
    }

    /// Reads a C string.
    package init(systemText start: UnsafePointer<CChar>) {
        let bytes = UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self)
        var count = 0
        while bytes[count] != 0 { count += 1 }
        self.init(systemBytes: UnsafeBufferPointer(start: bytes, count: count))
    }

    /// The original bytes of the text.
    package var systemBytes: [UInt8] {
        guard self.hasSystemBytes else { return Array(self.utf8) }
        var bytes: [UInt8] = []
        for scalar in self.unicodeScalars {
            if let byte = scalar.systemByte { bytes.append(byte) } else { bytes += Array(String(scalar).utf8) }
        }
        return bytes
    }

    /// Calls `body` with the original bytes as a C string.
    package func withSystemText<Value>(_ body: (UnsafePointer<CChar>) throws -> Value) rethrows -> Value {
        guard self.hasSystemBytes else { return try self.withCString(body) }
        return try (self.systemBytes.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { text in
            guard let start = text.baseAddress else { preconditionFailure("BUG: text ends with a zero") }
            return try body(start)
        }
    }

    /// The text for people, with bytes that are not UTF-8 as `\xe9`.
    package var showingSystemBytes: String {
        guard self.hasSystemBytes else { return self }
        var text = ""
        for scalar in self.unicodeScalars {
            if let byte = scalar.systemByte {
                text += byte.asHexadecimalEscape
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// True if a scalar stands for a byte. All such scalars begin with 0xF4 in UTF-8, which is rare otherwise.
    package var hasSystemBytes: Bool {
        self.utf8.contains(0xF4) && self.unicodeScalars.contains { $0.systemByte != nil }
    }
}

extension Unicode.Scalar {
    private static let firstSystemByte: UInt32 = 0x10FE80

    fileprivate init(systemByte byte: UInt8) {
        // Only bytes above ASCII can be invalid, or part of a longer scalar.
        guard let scalar = Unicode.Scalar(Self.firstSystemByte - 0x80 + UInt32(byte)), byte >= 0x80 else {
            preconditionFailure("BUG: ASCII stands for itself")
        }
        self = scalar
    }

    /// The byte for which the scalar stands in texts of the system; nil if it is an ordinary scalar.
    package var systemByte: UInt8? {
        (Self.firstSystemByte..<Self.firstSystemByte + 0x80).contains(self.value)
            ? UInt8(truncatingIfNeeded: self.value) : nil
    }
}

extension UInt8 {
    /// The byte as an escape: `\xe9`.
    package var asHexadecimalEscape: String {
        let digits = String(self, radix: 16)
        return "\\x\(digits.count == 1 ? "0" : "")\(digits)"
    }
}

extension String {
    /// Returns a path to the same file whose folder is UTF-8, for libraries that take a Swift String. It uses a descriptor
    /// of the folder, which stays open, because such a library may later open files beside the first.
    ///
    /// - Throws: an error if the folder cannot be opened.
    package func pathForLibraries() throws(SystemError) -> String {
        guard self.hasSystemBytes else { return self }
        let parts = self.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        let descriptor = PintleSystem.open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        return "/proc/self/fd/\(descriptor)/\(parts.last ?? "")"
    }
}
