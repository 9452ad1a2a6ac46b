// SPDX-License-Identifier: Apache-2.0

internal import CPintleBrotli

/// The layer for br, with Brotli's decoder.
final class BrotliLayer: CodingLayer {
    let coding = ContentCoding.br
    private(set) var isAtEnd = true
    private var hasEnded = false
    private let decoder: OpaquePointer

    init() throws(ContentDecodingError) {
        guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .outOfMemory(.br) }
        self.decoder = decoder
        // Windows over 16 MiB are an extension and not part of the content coding (RFC 9659 §2).
        BrotliDecoderSetParameter(decoder, BROTLI_DECODER_PARAM_LARGE_WINDOW, 0)
    }

    deinit { BrotliDecoderDestroyInstance(self.decoder) }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> Int {
        if self.hasEnded {
            guard input.isEmpty else { throw .trailingBytes(.br) }
            return 0
        }
        if !input.isEmpty { self.isAtEnd = false }
        var inputCount = input.count
        var inputStart = input.assumingMemoryBound(to: UInt8.self).baseAddress
        var outputCount = output.count
        var outputStart = output.assumingMemoryBound(to: UInt8.self).baseAddress
        let result = BrotliDecoderDecompressStream(
            self.decoder, &inputCount, &inputStart, &outputCount, &outputStart, nil)
        input = UnsafeRawBufferPointer(rebasing: input.suffix(inputCount))
        switch result {
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: break
        case BROTLI_DECODER_RESULT_SUCCESS:
            self.hasEnded = true
            self.isAtEnd = true
        default:
            let code = BrotliDecoderGetErrorCode(self.decoder)
            let reason = BrotliDecoderErrorString(code).map { String(cString: $0) } ?? "no reason given"
            throw .corrupt(.br, reason: reason)
        }
        return output.count - outputCount
    }
}
