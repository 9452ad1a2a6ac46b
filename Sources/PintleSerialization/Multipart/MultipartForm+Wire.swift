// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension MultipartForm {
    /// A section of the body in its wire form.
    package enum Segment: Sendable {
        /// Boundaries, fields, and the bytes of parts that are in memory.
        case bytes([UInt8])
        /// The first `length` bytes of a file.
        case file(path: String, length: UInt64)
        /// The bytes of a stream.
        case stream(Stream)
    }

    /// The Content-Type of a request with this form. The boundary needs no quotes.
    public var contentType: String { "multipart/form-data; boundary=\(self.boundary)" }

    /// The length of the whole body in bytes: 0 without parts; nil if a stream does not know its length, or the sum exceeds
    /// `UInt64`.
    public var contentLength: UInt64? {
        var sum: UInt64 = 0
        for segment in self.segments {
            let length: UInt64? =
                switch segment {
                case .bytes(let bytes): UInt64(bytes.count)
                case .file(_, let length): length
                case .stream(let stream): stream.length
                }
            guard let length else { return nil }
            let (next, isTooLong) = sum.addingReportingOverflow(length)
            if isTooLong { return nil }
            sum = next
        }
        return sum
    }

    /// The body in order; empty without parts (RFC 2046 §5.1.1). Consecutive bytes are one segment, so a form without files
    /// and streams is a single segment.
    package var segments: [Segment] {
        guard !self.parts.isEmpty else { return [] }
        var segments: [Segment] = []
        var bytes: [UInt8] = []
        for (index, part) in self.parts.enumerated() {
            bytes += "\(index == 0 ? "" : "\r\n")--\(self.boundary)\r\n".utf8
            part.fields.forEachRun { bytes.append(contentsOf: $0) }
            bytes += "\r\n".utf8
            switch part.content {
            case .bytes(let content):
                bytes += content
                continue
            case .file(let path, let length): segments += [.bytes(bytes), .file(path: path, length: length)]
            case .stream(let stream): segments += [.bytes(bytes), .stream(stream)]
            }
            bytes = []
        }
        return segments + [.bytes(bytes + "\r\n--\(self.boundary)--\r\n".utf8)]
    }
}
