// SPDX-License-Identifier: Apache-2.0

internal import CPintlePCRE2

/// A regular expression of ECMA-262. A search with it has bounded work and memory.
package struct Pattern: Sendable {
    package enum Outcome {
        case matches
        case differs
        /// The string needed more steps or memory than it may, so the result is unknown.
        case exhausted
    }

    /// The expression as it was written.
    package let source: String
    private let code: Code

    /// The most memory for one match, in KiB: PCRE2 keeps its backtracking points on the heap.
    private static let heapLimit: UInt32 = 64 * 1024

    /// The number of steps that is enough for nearly every search of a string of `length` bytes.
    static func usualSteps(forLength length: Int) -> UInt32 { UInt32(min(1_000 + 8 * length, Self.longestSearch)) }

    /// The most steps for a string of `length` bytes.
    package static func stepLimit(forLength length: Int) -> UInt32 {
        UInt32(min(20_000 + 32 * length, Self.longestSearch))
    }

    /// The most steps of any search: PCRE2 cannot be stopped on the way, and this many take some tenths of a second.
    private static let longestSearch = 16_000_000

    /// - Parameter ignoringCase: true for the flag `i`.
    /// - Throws: the part of the expression that ECMA-262 or PCRE2 does not have.
    package init(_ source: String, ignoringCase: Bool = false) throws(PatternError) {
        self.source = source
        self.code = try Code(PatternTranslator.translate(source), ignoringCase: ignoringCase)
    }

    /// Searches for the expression anywhere in `text`.
    ///
    /// - Parameter steps: the most steps, after which the search is given up.
    package func search(_ text: String, steps: UInt32) -> Outcome {
        var text = text
        return text.withUTF8 { self.code.search($0, steps) }
    }

    /// The compiled expression.
    ///
    /// Unchecked: PCRE2 only reads a compiled pattern while it matches, as long as the JIT compiler does not get it, and the
    /// pointer is set once. Every match has a context and results of its own.
    private final class Code: @unchecked Sendable {
        private let pointer: OpaquePointer

        init(_ translated: String, ignoringCase: Bool) throws(PatternError) {
            let options =
                PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF
                | PCRE2_NEVER_BACKSLASH_C | PCRE2_ALLOW_EMPTY_CLASS | (ignoringCase ? PCRE2_CASELESS : 0)
            var text = translated
            var (code, offset): (Int32, Int) = (0, 0)
            let pointer = text.withUTF8 { bytes in
                pcre2_compile_8(bytes.baseAddress, bytes.count, options, &code, &offset, nil)
            }
            guard let pointer else {
                var message = [UInt8](repeating: 0, count: 256)
                let count = pcre2_get_error_message_8(code, &message, message.count)
                throw PatternError(
                    "cannot be compiled: " + String(decoding: message.prefix(max(0, Int(count))), as: UTF8.self))
            }
            self.pointer = pointer
        }

        deinit { pcre2_code_free_8(self.pointer) }

        func search(_ text: UnsafeBufferPointer<UInt8>, _ steps: UInt32) -> Outcome {
            // Only the existence of a match matters, so one pair of offsets is enough.
            guard let result = pcre2_match_data_create_8(1, nil), let context = pcre2_match_context_create_8(nil) else {
                return .exhausted
            }
            defer {
                pcre2_match_data_free_8(result)
                pcre2_match_context_free_8(context)
            }
            pcre2_set_match_limit_8(context, steps)
            pcre2_set_depth_limit_8(context, steps)
            pcre2_set_heap_limit_8(context, Pattern.heapLimit)
            let code = pcre2_match_8(
                self.pointer, text.baseAddress, text.count, 0, PCRE2_NO_UTF_CHECK, result, context)
            return code >= 0 ? .matches : code == PCRE2_ERROR_NOMATCH ? .differs : .exhausted
        }
    }
}

/// The fault of a regular expression, in words that follow its name.
package struct PatternError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
