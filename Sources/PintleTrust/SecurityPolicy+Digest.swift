// SPDX-License-Identifier: Apache-2.0

extension SecurityPolicy {
    /// A digest in hexadecimal of all settings of the policy.
    ///
    /// It tells the policy from every other one, in every process: a peer that was accepted under one policy must not be
    /// used under another.
    package var digest: String {
        var text: [UInt8] = []
        func add(_ part: some Sequence<UInt8>) {
            let part = Array(part)
            text += "\(part.count):".utf8
            text += part
        }
        func add(_ certificates: [Certificate]) {
            add("\(certificates.count)".utf8)
            for certificate in certificates { add(certificate.der) }
        }
        let words = [
            self.pinning.rawValue, self.match.rawValue, "\(self.allowInvalidCertificates)",
            "\(self.validatesDomainName)",
            "\(self.allowsCommonName)", self.minimumTLS?.rawValue ?? "", self.stapling.rawValue, self.form.rawValue,
            self.pinExpiry.map { "\($0.moment.seconds) \($0.action.rawValue)" } ?? "",
        ]
        for word in words { add(word.utf8) }
        for pin in self.pins.map(\.description).sorted() { add(pin.utf8) }
        add(self.certificates)
        switch self.roots {
        case .system: add("system".utf8)
        case .only(let roots): add(roots)
        }
        add(self.extraRoots)
        for list in self.revocationLists { add(list.der) }
        return Pin(spki: text).digest.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
