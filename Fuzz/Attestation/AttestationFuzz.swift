// SPDX-License-Identifier: Apache-2.0

internal import PintleAttestation
internal import PintleFuzzing
internal import PintleTrust

/// Fuzzes signed reports of runs: envelopes that no key has signed, statements of any kind that a key has signed, and statements of
/// exchanges that are also chained as Pintle chains them, since the hashes would stop the fuzzer at the first one.
///
/// The first byte chooses one of the three.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAttestation(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    let text = Array(bytes.dropFirst())
    switch selector % 3 {
    case 0:
        let verified = verify(text)
        hold(verified.failure?.description.isEmpty == false, "what was not signed is refused with a reason")
    case 1: checkSigned(text)
    default:
        let (statement, count) = chained(text)
        let verified = checkSigned(statement)
        hold(verified.failure?.description.hasPrefix("the hash of exchange") != true, "the hashes follow")
        if case .success(let verified) = verified { hold(verified.count == count, "each exchange is counted") }
    }
    return 0
}

/// Checks a statement that the key has signed.
@discardableResult
private func checkSigned(_ statement: [UInt8]) -> Result<VerifiedStatement, AttestationError> {
    guard let file = signed(statement) else { fatalError("the key signs any bytes") }
    let verified = verify(file)
    switch verified {
    case .success(let verified):
        var lines: [[UInt8]] = []
        verified.forEachLine { lines.append($0) }
        hold(Array(lines.joined(separator: [0x0A])) == statement, "the lines are those that were signed")
        hold(lines.count == verified.count + 2, "each exchange has a line")
        _ = verified.predicate
    case .failure(let error):
        hold(!error.description.isEmpty, "a refusal has a reason")
        hold(!error.description.hasPrefix("its signature does not hold"), "what was signed holds, whatever it states")
    }
    return verified
}

/// The first line of a statement, and exchanges on the lines behind it, as a statement with the hashes of its exchanges.
private func chained(_ text: [UInt8]) -> (statement: [UInt8], count: Int) {
    let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
    var chain = ExchangeChain()
    var statement = Array(lines.first ?? [])
    for exchange in lines.dropFirst() {
        statement += Array((chain.count == 0 ? "\n" : ",\n").utf8)
        chain.append(Array(exchange))
        statement += Array("{\"exchange\":".utf8) + exchange + Array(",\"hash\":\"".utf8)
        statement += chain.hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        statement += Array("\"}".utf8)
    }
    return (statement + Array("\n]}}".utf8), chain.count)
}

private let digits = Array("0123456789abcdef".utf8)

private func signed(_ statement: [UInt8]) -> [UInt8]? {
    let message = SignedEnvelope.authenticatedHead(ofPayload: statement.count) + statement
    guard let signature = try? message.withUnsafeBytes({ try key.signature(of: $0) }) else { return nil }
    var file: [UInt8] = []
    statement.withUnsafeBytes { payload in
        SignedEnvelope.write(payload, signature, by: key.publicKey) { file += $0 }
    }
    return file
}

private func verify(_ file: [UInt8]) -> Result<VerifiedStatement, AttestationError> {
    let space = [UInt8](repeating: 0, count: SignedEnvelope.room)
    return outcome { () throws(AttestationError) in
        try VerifiedStatement(file: space + file, by: key.publicKey)
    }
}

private let key: SigningKey = {
    let lead: [UInt8] = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]
    let text = PEMText.block("PRIVATE KEY", lead + [UInt8](repeating: 1, count: 32))
    guard let key = try? SigningKey(pem: Array(text.utf8), file: "key") else { fatalError("a known key is read") }
    return key
}()
