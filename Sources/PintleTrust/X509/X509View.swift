// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc
internal import PintleSystem

/// Reads an `X509 *` that another owner keeps alive.
struct X509View {
    let pointer: OpaquePointer

    var der: [UInt8]? {
        X509View.encoded { i2d_X509(self.pointer, $0) }
    }

    var subject: String { X509View.text(of: X509_get_subject_name(self.pointer)) }
    var issuer: String { X509View.text(of: X509_get_issuer_name(self.pointer)) }

    var isSelfIssued: Bool {
        X509_NAME_cmp(X509_get_subject_name(self.pointer), X509_get_issuer_name(self.pointer)) == 0
    }

    var notBefore: UnixTime? { X509View.moment(X509_get0_notBefore(self.pointer)) }
    var notAfter: UnixTime? { X509View.moment(X509_get0_notAfter(self.pointer)) }

    /// The serial number in upper-case hexadecimal, two digits per byte.
    var serial: String {
        guard let number = X509_get0_serialNumber(self.pointer) else { return "" }
        let digits = X509View.bytes(of: number).map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + text : text
        }
        return (ASN1_STRING_type(number) == V_ASN1_NEG_INTEGER ? "-" : "") + digits.joined()
    }

    /// The SubjectPublicKeyInfo in DER.
    var subjectPublicKeyInfo: [UInt8]? {
        X509View.encoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(self.pointer), $0) }
    }

    /// The DNS names and IP addresses of the subjectAltName, in the certificate's order.
    var names: [String] {
        guard let names = pintle_x509_alternative_names(self.pointer) else { return [] }
        defer { GENERAL_NAMES_free(names) }
        return (0..<max(0, pintle_general_names_count(names))).compactMap { index in
            guard let name = pintle_general_names_value(names, index) else { return nil }
            if pintle_general_name_is_dns(name) == 1 {
                return X509View.printable(X509View.bytes(of: pintle_general_name_string(name)))
            }
            if pintle_general_name_is_ip(name) == 1 {
                return IPAddressName(bytes: X509View.bytes(of: pintle_general_name_string(name)))?.description
            }
            return nil
        }
    }

    static func encoded(
        _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> CInt
    ) -> [UInt8]? {
        var buffer: UnsafeMutablePointer<UInt8>?
        let length = encode(&buffer)
        guard length > 0, let buffer else { return nil }
        defer { pintle_openssl_free(buffer) }
        return Array(UnsafeBufferPointer(start: buffer, count: Int(length)))
    }

    /// Returns the DER of a name.
    static func encoding(of name: OpaquePointer?) -> [UInt8] {
        X509View.encoded { i2d_X509_NAME(name, $0) } ?? []
    }

    /// Returns the DER of an algorithm with its parameters.
    static func encoding(of algorithm: UnsafePointer<X509_ALGOR>?) -> [UInt8] {
        X509View.encoded { i2d_X509_ALGOR(algorithm, $0) } ?? []
    }

    /// Returns a name on one line (RFC 4514).
    static func text(of name: OpaquePointer?) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        X509_NAME_print_ex(bio, name, 0, pintle_name_flags())
        var start: UnsafeMutablePointer<CChar>?
        let length = pintle_bio_mem_data(bio, &start)
        guard length > 0, let start else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self).streamSafe
    }

    static func moment(_ time: UnsafePointer<ASN1_TIME>?) -> UnixTime? {
        var fields = tm()
        guard let time, ASN1_TIME_to_tm(time, &fields) == 1 else { return nil }
        return UnixTime(seconds: Int64(timegm(&fields)))
    }

    static func bytes(of string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
        guard let string, let data = ASN1_STRING_get0_data(string) else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(string))))
    }

    /// Returns text for logs and problem bodies: a peer chooses these bytes, so those that cannot be printed are replaced.
    private static func printable(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
