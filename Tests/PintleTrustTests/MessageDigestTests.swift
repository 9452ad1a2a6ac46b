// SPDX-License-Identifier: Apache-2.0

import PintleTrust
import Testing

@Suite struct MessageDigestTests {
    /// RFC 1321 §A.5, and NIST's examples for FIPS 180-4.
    @Test(arguments: [
        (MessageDigest.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
        (.md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
        (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (.sha512_256, "", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
        (.sha512_256, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ])
    func `a digest is the published one`(function: MessageDigest, text: String, digest: String) throws {
        let bytes = try function.digest(of: Array(text.utf8))
        #expect(bytes.flatMap { [$0 >> 4, $0 & 15] }.map { String($0, radix: 16) }.joined() == digest)
    }
}
