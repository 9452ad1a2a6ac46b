// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSerialization

/// The bytes of a form, segment after segment; a file is opened when its turn comes.
final class FormUploadReader: UploadReader {
    private var segments: ArraySlice<MultipartForm.Segment>
    private var current: (any UploadReader)?

    init(_ form: MultipartForm) { self.segments = form.segments[...] }

    func next() async throws(SessionError) -> ByteBuffer? {
        while true {
            if let current {
                if let piece = try await current.next() { return piece }
                self.current = nil
            }
            guard let segment = self.segments.popFirst() else { return nil }
            self.current = try await Self.open(segment)
        }
    }

    private static func open(_ segment: MultipartForm.Segment) async throws(SessionError) -> any UploadReader {
        switch segment {
        case .bytes(let bytes): return BytesReader(ByteBuffer(bytes: bytes))
        case .file(let path, let length):
            let reader = try await FileReader.open(path)
            guard reader.length == length else {
                throw SessionError(
                    .unreadableSource, "\(path) has \(reader.length) bytes; it had \(length) when the form was made")
            }
            return reader
        case .stream(let stream):
            do {
                return Self.reader(of: try stream.open())
            } catch {
                throw .wrapping(error, as: .unreadableSource, "a part of the form cannot be read")
            }
        }
    }

    private static func reader(of bytes: some AsyncSequence<[UInt8], any Error>) -> any UploadReader {
        SequenceReader(bytes.map { ByteBuffer(bytes: $0) }.makeAsyncIterator())
    }
}
