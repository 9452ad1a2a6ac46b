// SPDX-License-Identifier: Apache-2.0

/// OpenSSL's reasons in Pintle's words.
///
/// Swift cannot see OpenSSL's numbers, which are macros, so its texts (crypto/err, ssl/ssl_err.c of OpenSSL 3) are the
/// keys.
enum OpenSSLWords {
    /// - Parameters:
    ///   - reason: OpenSSL's text for the reason of an error; nil if it has none.
    ///   - code: the error's number, for reasons without words here.
    static func text(for reason: String?, code: UInt) -> String {
        if let reason {
            if let words = self.words[reason] { return words }
            // The name of an alert is TLS's own (RFC 8446 §6).
            for prefix in ["sslv3 alert ", "tlsv1 alert ", "tlsv13 alert ", "tlsv1 "] where reason.hasPrefix(prefix) {
                return "the other end says: \(reason.dropFirst(prefix.count))"
            }
        }
        return "OpenSSL's error \(String(code, radix: 16, uppercase: true))"
    }

    private static let words = [
        // Handshakes
        "wrong version number": "the other end does not speak TLS",
        "http request": "the other end speaks HTTP without TLS",
        "https proxy request": "the other end speaks HTTP without TLS",
        "unknown protocol": "the other end does not speak TLS",
        "bad record type": "the other end does not speak TLS",
        "packet length too long": "a record is longer than TLS allows; the other end may not speak TLS",
        "data length too long": "a record is longer than TLS allows; the other end may not speak TLS",
        "record layer failure": "the records of TLS are broken",
        "unexpected eof while reading": "the other end closed the connection",
        "unsupported protocol": "no version of TLS is spoken by both",
        "version too low": "no version of TLS is spoken by both",
        "no protocols available": "no version of TLS is allowed",
        "no shared cipher": "no cipher suite is known to both",
        "no ciphers available": "no cipher suite is allowed",
        "no suitable key share": "no group for the key exchange is known to both",
        "no shared group": "no group for the key exchange is known to both",
        "no suitable signature algorithm": "no signature algorithm is known to both",
        "no shared signature algorithms": "no signature algorithm is known to both",
        "wrong signature type": "the signature is of a kind that was not offered",
        "bad signature": "the signature of the handshake is wrong",
        "dh key too small": "the Diffie-Hellman key is too short",
        "bad ecpoint": "the key share is no point of its curve",
        "bad key share": "the key share cannot be used",
        "bad extension": "an extension of the handshake is malformed",
        "length mismatch": "a message of the handshake is malformed",
        "bad length": "a message of the handshake is malformed",
        "excessive message size": "a message of the handshake is too long",
        "unexpected message": "a message came that was not due",
        "unexpected record": "a record came that was not due",
        "decryption failed or bad record mac": "a record cannot be decrypted",
        "digest check failed": "the other end has seen another handshake than this one",
        "no application protocol": "no application protocol is known to both",
        "unsafe legacy renegotiation disabled": "the other end lacks secure renegotiation (RFC 5746)",
        "no renegotiation": "the other end wants to renegotiate",
        "inappropriate fallback": "a client falls back from a version that both speak",
        "callback failed": "it was refused",
        "certificate verify failed": "the certificate was refused",
        "peer did not return a certificate": "the other end showed no certificate",
        "sslv3 alert handshake failure": "the other end says: handshake failure; it may want a client certificate",
        "tlsv1 unrecognized name": "the other end says: unrecognized name",
        // Certificates and keys
        "ee key too small": "the key is too short for the security level in force",
        "ca key too small": "the key of an authority is too short for the security level in force",
        "ca md too weak": "a signature's digest is too weak for the security level in force",
        "key values mismatch": "the private key belongs to another certificate",
        "no certificate assigned": "there is no certificate",
        "unable to get issuer certificate": "the issuer's certificate is missing",
        // Files
        "no start line": "there is no PEM block",
        "bad end line": "a PEM block has no end",
        "bad base64 decode": "a PEM block is not base64",
        "short header": "a PEM block is cut off",
        "bad decrypt": "the password is wrong",
        "maybe wrong password": "the password may be wrong",
        "bad password read": "there is no password",
        "problems getting password": "there is no password",
        "interrupted or cancelled": "there is no password",
        "mac verify failure": "the password is wrong, or the file damaged",
        "pkcs12 cipherfinal error": "the password is wrong",
        "unsupported": "the format or its encryption is not supported",
        "unsupported algorithm": "the algorithm is not supported",
        "unknown public key type": "the kind of key is not known",
        "decode error": "it is not the DER that is due",
        "wrong tag": "it is not the DER that is due",
        "bad object header": "it is not the DER that is due",
        "nested asn1 error": "it is not the DER that is due",
        "header too long": "it is not the DER that is due",
        "not enough data": "it is cut off",
        "too long": "it is cut off",
        "too small": "it is cut off",
        "unexpected eof": "it is cut off",
        "ASN1 lib": "it is not the DER that is due",
        "malloc failure": "out of memory",
    ]
}
