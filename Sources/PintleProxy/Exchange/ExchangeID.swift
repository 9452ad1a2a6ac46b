// SPDX-License-Identifier: Apache-2.0

/// The id of an exchange in problems and logs; converted to text only when it is shown.
struct ExchangeID: CustomStringConvertible {
    let instance: UInt64
    let sequence: UInt64

    var description: String { String(self.instance, radix: 16) + "-" + String(self.sequence, radix: 16) }
}
