// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
internal import PintleSystem
internal import PintleTrust

/// The signature of a question to a webhook, and of its answer: HMAC-SHA256 over the time, a dot and the body, in the form
/// `t=SECONDS,v1=HEX`.
package struct AnswerSignature: Sendable {
    /// The field that has it.
    package static let field = "Pintle-Signature"
    /// The most seconds between the time of a signature and its arrival, in either direction.
    package static let validity: Int64 = 300

    private let key: [UInt8]

    /// - Parameter secret: `ask.webhook.secret`.
    package init(secret: String) { self.key = Array(secret.utf8) }

    /// Signs a body.
    package func value(for body: [UInt8], at time: Timestamp) -> String {
        let seconds = time.milliseconds / 1000
        return "t=\(seconds),v1=\(self.code(of: body, "\(seconds)"))"
    }

    /// True if the field's value is a signature of the body, made at about this time.
    package func isValid(_ value: String?, for body: [UInt8], at time: Timestamp) -> Bool {
        guard let value else { return false }
        var seconds: Substring?
        var codes: [Substring] = []
        for part in value.split(separator: ",") {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            // Further versions may stand beside the first.
            if pair[0] == "t", seconds == nil { seconds = pair[1] }
            if pair[0] == "v1" { codes.append(pair[1]) }
        }
        guard let seconds, let moment = Int64(seconds), moment >= 0,
            moment.subtractingReportingOverflow(time.milliseconds / 1000).partialValue.magnitude <= Self.validity
        else { return false }
        let code = self.code(of: body, String(seconds))
        return codes.contains { $0.isSecret(code) }
    }

    private func code(of body: [UInt8], _ seconds: String) -> String {
        let digits = Array("0123456789abcdef")
        let code = MessageAuthentication.code(of: Array("\(seconds).".utf8) + body, key: self.key)
        return String(code.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
