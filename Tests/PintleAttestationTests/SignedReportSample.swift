// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import PintleTrust

@testable import PintleAttestation

/// Signed reports, and the key that signs them.
struct SignedReportSample {
    static let key: SigningKey = {
        let text = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
            -----END PRIVATE KEY-----

            """
        guard let key = try? SigningKey(pem: Array(text.utf8), file: "key") else { preconditionFailure("a known key") }
        return key
    }()

    static func leaf(
        _ number: Int, host: String? = nil, status: Int = 200, decision: String = "allow", rule: String? = nil,
        keys: [String] = [], body: Parameter? = nil
    ) -> [UInt8] {
        let host = host ?? "h\(number % 3).test:80"
        let rule = rule.map { #","rule":"\#($0)""# } ?? ""
        let log =
            #"{"id":"\#(number)","method":"GET","url":"http://\#(host)/\#(number)","host":"\#(host)""#
            + #"\#(rule),"decision":"\#(decision)","status":\#(status),"source":"origin"}"#
        return StatedExchange.leaf(log: Array(log.utf8), keys: keys, body: body)
    }

    /// A report as it is written.
    static func report(_ leaves: [[UInt8]], missed: Int = 0, places: [String: String] = [:]) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        var ledger = try ExchangeLedger(for: "\(folder.path)/report")
        for leaf in leaves { ledger.append(leaf) }
        try ledger.write([("report", ["program": "make"])], places: places, missed: missed, by: Self.key)
        return fileBytes("\(folder.path)/report") ?? []
    }

    /// A report with any payload, signed by the key.
    static func signed(_ payload: String) throws -> [UInt8] {
        let payload = Array(payload.utf8)
        let message = SignedEnvelope.authenticatedHead(ofPayload: payload.count) + payload
        let signature = try message.withUnsafeBytes { bytes in try Self.key.signature(of: bytes) }
        var text: [UInt8] = []
        payload.withUnsafeBytes { bytes in
            SignedEnvelope.write(bytes, signature, by: Self.key.publicKey) { text += $0 }
        }
        return text
    }

    static func verified(_ file: [UInt8]) throws(AttestationError) -> VerifiedStatement {
        try VerifiedStatement(
            file: [UInt8](repeating: 0, count: SignedEnvelope.room) + file, by: Self.key.publicKey)
    }

    /// The reason why a report does not hold; nil if it holds.
    static func objection(to file: [UInt8]) -> String? {
        do throws(AttestationError) {
            _ = try Self.verified(file)
            return nil
        } catch { return error.description }
    }
}
