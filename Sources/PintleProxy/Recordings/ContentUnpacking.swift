// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding
internal import PintleMessage
internal import PintleTape

/// Removes content codings, so that recordings can be read, and their secrets found.
enum ContentUnpacking {
    /// The content of a message, with the pieces in which it arrived.
    struct Content {
        var bytes: [UInt8]
        var pieces: [TapeResponse.Piece]
        /// True if codings were removed.
        var wasPacked = false
        /// The reason why the content is not there; nil if it is.
        var gap: String?
    }

    /// Unpacks a content. One that is not in its coding, or in an unknown one, stays as it is.
    ///
    /// - Parameter limit: the most bytes of the unpacked content.
    static func unpack(_ bytes: [UInt8], _ pieces: [TapeResponse.Piece], _ fields: Fields, limit: Int) -> Content {
        let packed = Content(bytes: bytes, pieces: pieces)
        guard !bytes.isEmpty, let codings = try? ContentCoding.codings(in: fields.values(of: "Content-Encoding")),
            !codings.isEmpty, let decoder = try? ContentDecoder(codings, limit: limit + 1)
        else { return packed }
        var content = Content(bytes: [], pieces: [], wasPacked: true)
        do throws(ContentDecodingError) {
            var start = 0
            for piece in pieces.isEmpty ? [TapeResponse.Piece(time: 0, end: bytes.count)] : pieces {
                var isWanted = true
                try bytes.withUnsafeBufferPointer { all throws(ContentDecodingError) in
                    let part = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[start..<piece.end]))
                    isWanted = try decoder.decode(part) { bytes in
                        content.bytes.append(contentsOf: bytes)
                        return content.bytes.count <= limit
                    }
                }
                guard isWanted else { return Content(bytes: [], pieces: [], gap: Self.tooLong(limit)) }
                start = piece.end
                if !pieces.isEmpty { content.pieces.append(.init(time: piece.time, end: content.bytes.count)) }
            }
            try decoder.finish()
        } catch {
            if case .beyondLimit = error { return Content(bytes: [], pieces: [], gap: Self.tooLong(limit)) }
            return packed
        }
        return content
    }

    static func tooLong(_ limit: Int) -> String { "a body is longer than recordings.bodies, \(limit) bytes" }

    /// Unpacks the body of a request.
    static func request(_ request: TapeRequest, limit: Int) -> (request: TapeRequest, gap: String?) {
        let content = self.unpack(request.body, [], request.fields, limit: limit)
        var request = request
        request.body = content.bytes
        if content.wasPacked { self.removeCoding(from: &request.fields) }
        return (request, content.gap)
    }

    static func removeCoding(from fields: inout Fields) {
        fields.remove("Content-Encoding")
        TapeRedaction.removeDigests(from: &fields)
    }
}
