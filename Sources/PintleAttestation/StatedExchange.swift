// SPDX-License-Identifier: Apache-2.0

package import PintleSerialization

/// One exchange of a statement.
///
/// Its bytes are JSON: `log` is its line in the log, `keys` are the pins of the chain that the destination has shown, leaf first, and
/// `body` is the digest of the response's body, or the reason why there is none.
package struct StatedExchange: Sendable {
    /// The most bytes of one exchange.
    static let longest = 1 << 20

    let host: String
    let keys: [String]
    let rule: String?
    let decision: String
    /// The file that the client has received whole; nil for any other response.
    let file: FetchedFile?

    /// - Throws: an error if the bytes are no exchange.
    init(_ leaf: [UInt8]) throws(AttestationError) {
        let document: Parameter
        do throws(JSONSyntaxError) {
            document = try JSONScanner(nestingLimit: 16).parse(leaf)
        } catch {
            throw AttestationError("it is not JSON: \(error)")
        }
        guard let log = document["log"], let decision = log.text("decision") else {
            throw AttestationError("it has no decision")
        }
        self.host = log.text("host") ?? "-"
        self.keys = document.elements("keys").compactMap { if case .string(let key) = $0 { key } else { nil } }
        self.rule = log.text("rule")
        self.decision = decision
        let isFile =
            log.text("method") == "GET" && log.number("status") == 200
            && ["origin", "cache"].contains(log.text("source") ?? "")
        let body = document["body"]
        guard isFile, let url = log.text("url"), let digest = body?.text("sha256") else {
            self.file = nil
            return
        }
        self.file = FetchedFile(url: url, sha256: digest, coding: body?.text("coding"))
    }

    /// Returns the bytes of an exchange.
    ///
    /// - Parameters:
    ///   - log: its line in the log as JSON, without the line end.
    ///   - keys: the pins of the chain that the destination has shown, leaf first.
    ///   - body: the facts about the response's body; nil without a body.
    package static func leaf(log: some Sequence<UInt8>, keys: [String], body: Parameter?) -> [UInt8] {
        let more = Parameter.object([("keys", keys.isEmpty ? nil : .strings(keys)), ("body", body)])
        // This cannot fail: it has only text.
        let members = ((try? JSONWriter.write(more)) ?? []).dropFirst()
        let separator = members.count > 1 ? [UInt8(ascii: ",")] : []
        return Array(#"{"log":"#.utf8) + log + separator + members
    }
}

/// A file that a run has fetched: the body of a response with status 200 to GET, from an origin or the cache.
struct FetchedFile: Sendable, Hashable {
    /// Without secrets, as in the log.
    let url: String
    /// The digest of the body as it was sent to the client, in hexadecimal.
    let sha256: String
    /// The content coding, if the body has one.
    let coding: String?
}
