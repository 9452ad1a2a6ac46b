// SPDX-License-Identifier: Apache-2.0

/// The id of an exchange in problems and logs; converted to text only when it is shown.
struct ExchangeID: Equatable, CustomStringConvertible {
    let instance: UInt64
    let sequence: UInt64

    var description: String { String(self.instance, radix: 16) + "-" + String(self.sequence, radix: 16) }
}

extension ExchangeID {
    /// Reads the form of ``description``; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let instance = UInt64(parts[0], radix: 16),
            let sequence = UInt64(parts[1], radix: 16)
        else { return nil }
        self.init(instance: instance, sequence: sequence)
        // Signs and zeros at the beginning are read as well.
        if self.description != text { return nil }
    }
}
