// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

extension CertificateRecipe.NamePart {
    /// The text in the encoding of its string type, without tag and length.
    package var bytes: [UInt8] {
        switch self.form {
        case .utf8: Array(self.text.utf8)
        case .printable, .teletex: self.text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        case .bmp: self.text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        case .universal:
            self.text.unicodeScalars.flatMap { scalar in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: scalar.value >> $0) }
            }
        }
    }
}

extension CertificateRecipe.NamePart.Form {
    /// OpenSSL's number of the string type, which is its ASN.1 tag.
    package var tag: CInt {
        switch self {
        case .utf8: V_ASN1_UTF8STRING
        case .printable: V_ASN1_PRINTABLESTRING
        case .teletex: V_ASN1_T61STRING
        case .bmp: V_ASN1_BMPSTRING
        case .universal: V_ASN1_UNIVERSALSTRING
        }
    }
}
