// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// OpenSSL's error queue of the calling thread.
///
/// Whoever calls OpenSSL clears the queue first: an error that an earlier call left there, libcurl's perhaps, would
/// otherwise pass for the answer of this one.
enum OpenSSLErrors {
    static func clear() {
        ERR_clear_error()
    }

    /// Empties the queue.
    ///
    /// - Returns: what they say in Pintle's words, oldest first, each once; nil if there were none.
    static func drain() -> String? {
        var texts: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            let reason = ERR_reason_error_string(code).map { String(cString: $0) }
            let text = OpenSSLWords.text(for: reason, code: code)
            if !texts.contains(text) { texts.append(text) }
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// A refusal for a call that fails only when OpenSSL itself is in trouble.
    static func failure(of call: String) -> TrustError {
        TrustError(
            code: .library,
            message: "OpenSSL failed in \(call); if memory is not short, please report this",
            cause: OpenSSLErrors.drain())
    }
}

/// A string of the characters before the terminating zero.
func string(cString buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
