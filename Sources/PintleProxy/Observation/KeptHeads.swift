// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The heads of an exchange's messages, for a reader: the bytes of a ``HeadBlock``.
struct KeptHeads: Sendable {
    /// The form of the target, and the lengths of the parts, in bytes and in their order.
    struct Shape: BitwiseCopyable, Sendable {
        enum Target: UInt8, BitwiseCopyable { case origin, http, https, authority, asterisk }

        var target = Target.asterisk
        var port: UInt16 = 0
        var method: UInt32 = 0
        var host: UInt32 = 0
        var path: UInt32 = 0
        var request: UInt32 = 0
        var response: UInt32 = 0

        var length: Int { self.responseStart + Int(self.response) }
        var responseStart: Int { self.requestStart + Int(self.request) }
        fileprivate var requestStart: Int { Int(self.method) + Int(self.host) + Int(self.path) }
    }

    private let shape: Shape
    private let bytes: [UInt8]

    /// - Parameter bytes: of ``Shape/length``.
    init(_ shape: Shape, copying bytes: UnsafeRawBufferPointer) { (self.shape, self.bytes) = (shape, [UInt8](bytes)) }

    /// Empty if the client sent no request.
    var method: String { self.text(0, self.shape.method) }

    var target: RequestTarget {
        let host = Int(self.shape.method)
        let authority = Authority(host: self.text(host, self.shape.host), port: self.shape.port)
        let path = self.text(host + Int(self.shape.host), self.shape.path)
        return switch self.shape.target {
        case .origin: .origin(path: path)
        case .http: .absolute(scheme: .http, authority: authority, path: path)
        case .https: .absolute(scheme: .https, authority: authority, path: path)
        case .authority: .authority(authority)
        case .asterisk: .asterisk
        }
    }

    var requestFields: Fields { Fields(lines: self.bytes[self.shape.requestStart..<self.shape.responseStart]) }
    var responseFields: Fields { Fields(lines: self.bytes[self.shape.responseStart...]) }

    private func text(_ start: Int, _ count: UInt32) -> String {
        String(decoding: self.bytes[start..<start + Int(count)], as: UTF8.self)
    }
}

extension Fields {
    /// Makes a section of lines as ``forEachRun(_:)`` tells them: each `Name: value` CRLF, without line breaks within.
    fileprivate init(lines: ArraySlice<UInt8>) {
        self = lines.withUnsafeBytes { bytes in
            var fields = Fields(reservingBytes: bytes.count)
            var start = 0
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                // No line lacks a colon.
                guard let colon = bytes[start..<end].firstIndex(of: UInt8(ascii: ":")), colon + 2 < end else { break }
                fields.append(
                    name: UnsafeRawBufferPointer(rebasing: bytes[start..<colon]),
                    value: UnsafeRawBufferPointer(rebasing: bytes[colon + 2..<end - 1]))
                start = end + 1
            }
            return fields
        }
    }
}
