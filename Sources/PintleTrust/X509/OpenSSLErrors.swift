// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// OpenSSL's error queue of the calling thread.
///
/// Callers of OpenSSL clear the queue first: an error that an earlier call left there, for instance by libcurl, would
/// otherwise be taken for the result of theirs.
enum OpenSSLErrors {
    static func clear() {
        ERR_clear_error()
    }

    /// Empties the queue.
    ///
    /// - Returns: the errors in Pintle's words, oldest first, each once; nil if there were none.
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

    /// Returns the error for a call that fails only if OpenSSL itself has a problem.
    static func failure(of call: String) -> TrustError {
        TrustError(
            code: .library,
            message: "OpenSSL failed in \(call); if memory is not short, please report this",
            cause: OpenSSLErrors.drain())
    }
}

/// Returns the string of the characters before the terminating zero.
func string(cString buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
