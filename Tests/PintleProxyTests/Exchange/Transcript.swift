// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage

/// Takes down what an exchange tells its two streams, in the order in which it does. Used on one loop.
final class Transcript {
    private(set) var lines: [String] = []
    /// What no stream allows. A scenario without any is the only good one.
    private(set) var breaches: [String] = []

    func note(_ line: String) { self.lines.append(line) }

    func breach(_ line: String) {
        self.lines.append("ILLEGAL: \(line)")
        self.breaches.append(line)
    }
}

extension Fields {
    /// The lines as a transcript has them, without those that no test can foresee, and the usual Via.
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
