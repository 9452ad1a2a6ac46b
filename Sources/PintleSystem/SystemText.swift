// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Text of the system: paths, arguments and variables of the environment. They are bytes, and UTF-8 by custom alone.
///
/// A String repairs what is not UTF-8, and would name another file then. So each byte that is not part of UTF-8 stands in it
/// as a private scalar, U+10FE80 to U+10FEFF, and becomes the byte again on the way to the system. Bytes that say one of
/// these scalars are treated in the same way, so that every name comes back as it was.
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

    /// Reads a string of C.
    package init(systemText start: UnsafePointer<CChar>) {
        let bytes = UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self)
        var count = 0
        while bytes[count] != 0 { count += 1 }
        self.init(systemBytes: UnsafeBufferPointer(start: bytes, count: count))
    }

    /// The bytes as the system has them.
    package var systemBytes: [UInt8] {
        guard self.hasSystemBytes else { return Array(self.utf8) }
        var bytes: [UInt8] = []
        for scalar in self.unicodeScalars {
            if let byte = scalar.systemByte { bytes.append(byte) } else { bytes += Array(String(scalar).utf8) }
        }
        return bytes
    }

    /// Lends the text to a function of C, as the system has it.
    package func withSystemText<Value>(_ body: (UnsafePointer<CChar>) throws -> Value) rethrows -> Value {
        guard self.hasSystemBytes else { return try self.withCString(body) }
        return try (self.systemBytes.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { text in
            guard let start = text.baseAddress else { preconditionFailure("BUG: text ends with a zero") }
            return try body(start)
        }
    }

    /// The text for people: bytes that are not UTF-8 as `\xe9`.
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

    /// True if some scalar stands for a byte. All of them begin with 0xF4 in UTF-8, which little else does.
    package var hasSystemBytes: Bool {
        self.utf8.contains(0xF4) && self.unicodeScalars.contains { $0.systemByte != nil }
    }
}

extension Unicode.Scalar {
    private static let firstSystemByte: UInt32 = 0x10FE80

    fileprivate init(systemByte byte: UInt8) {
        // Only bytes above ASCII are not UTF-8, or part of a scalar above ASCII.
        guard let scalar = Unicode.Scalar(Self.firstSystemByte - 0x80 + UInt32(byte)), byte >= 0x80 else {
            preconditionFailure("BUG: ASCII stands for itself")
        }
        self = scalar
    }

    /// The byte that the scalar stands for in text of the system; nil if it stands for itself.
    package var systemByte: UInt8? {
        (Self.firstSystemByte..<Self.firstSystemByte + 0x80).contains(self.value)
            ? UInt8(truncatingIfNeeded: self.value) : nil
    }
}

extension UInt8 {
    /// `\xe9`
    package var asHexadecimalEscape: String {
        let digits = String(self, radix: 16)
        return "\\x\(digits.count == 1 ? "0" : "")\(digits)"
    }
}

extension String {
    /// A path to the same file whose folder is UTF-8, for libraries that take a String of Swift's: by a descriptor of the folder,
    /// which stays open, as such a library may open files beside the first later.
    ///
    /// - Throws: where there is no such folder.
    package func pathForLibraries() throws(SystemError) -> String {
        guard self.hasSystemBytes else { return self }
        let parts = self.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        let descriptor = PintleSystem.open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        return "/proc/self/fd/\(descriptor)/\(parts.last ?? "")"
    }
}
