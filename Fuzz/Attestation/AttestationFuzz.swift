// SPDX-License-Identifier: Apache-2.0

internal import PintleAttestation
internal import PintleFuzzing
internal import PintleTrust

/// Fuzzes signed reports of runs: envelopes that no key has signed, and statements of any kind that a key has signed.
///
/// The first byte chooses one of the two.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAttestation(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    let text = Array(bytes.dropFirst())
    if selector & 1 == 0 {
        hold(objection(to: text)?.isEmpty == false, "what was not signed is refused with a reason")
        return 0
    }
    let message = SignedEnvelope.authenticatedHead(ofPayload: text.count) + text
    guard let signature = try? message.withUnsafeBytes({ try key.signature(of: $0) }) else { return 0 }
    var file: [UInt8] = []
    text.withUnsafeBytes { payload in
        SignedEnvelope.write(payload, signature, by: key.publicKey) { file += $0 }
    }
    hold(objection(to: file) != "its signature does not hold", "what was signed holds, whatever it states")
    return 0
}

/// The reason why a report does not hold; nil if it holds.
private func objection(to file: [UInt8]) -> String? {
    let space = [UInt8](repeating: 0, count: SignedEnvelope.room)
    return outcome { () throws(AttestationError) in
        try VerifiedStatement(file: space + file, by: key.publicKey)
    }.failure?.description
}

private let key: SigningKey = {
    let lead: [UInt8] = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]
    let text = PEMText.block("PRIVATE KEY", lead + [UInt8](repeating: 1, count: 32))
    guard let key = try? SigningKey(pem: Array(text.utf8), file: "key") else { fatalError("a known key is read") }
    return key
}()
