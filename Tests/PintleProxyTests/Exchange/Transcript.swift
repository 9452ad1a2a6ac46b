// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage

/// Records the calls of an exchange to its two streams, in order. Used on one loop.
final class Transcript {
    private(set) var lines: [String] = []
    /// Calls that no stream allows. A good scenario has none.
    private(set) var breaches: [String] = []

    func note(_ line: String) { self.lines.append(line) }

    func breach(_ line: String) {
        self.lines.append("ILLEGAL: \(line)")
        self.breaches.append(line)
    }
}

extension Fields {
    /// The field lines in the form of a transcript, without those that no test can foresee, and without the usual Via.
    func spelled(omitting omitted: Set<String> = ["date"]) -> String {
        let pairs = self.pairs.filter { !omitted.contains($0.name.lowercased()) && $0.value != "1.1 pintle" }
        return pairs.isEmpty ? "" : " {\(pairs.map { "\($0.name): \($0.value)" }.joined(separator: ", "))}"
    }
}

extension String {
    /// Short bytes as they are, long ones as their number.
    static func spelled(_ bytes: some Collection<UInt8>) -> String {
        guard bytes.count <= 60 else { return "\(bytes.count) bytes" }
        return "\"\(String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "|"))\""
    }
}
