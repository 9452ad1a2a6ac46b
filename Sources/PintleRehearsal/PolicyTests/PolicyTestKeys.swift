// SPDX-License-Identifier: Apache-2.0

package import PintlePolicy

/// The keys of policy tests: the reader accepts them, and the JSON Schema lists them.
package enum PolicyTestKeys {
    package static let test = KeySet("", ["name", "request", "response", "chain", "expect", "violations"])
    package static let request = KeySet(
        "request", ["method", "url", "headers", "body", "json", "form", "client", "mode"])
    package static let client = KeySet("request.client", ["address", "user", "tag"])
    package static let response = KeySet("response", ["status", "headers", "body", "json", "file"])
    package static let chain = KeySet("chain", ["file", "host", "at", "intermediates", "roots"])
    package static let expect = KeySet(
        "expect", PolicyTest.Fact.allCases.map(\.rawValue) + ["headers", "body", "json"])
    package static let text = KeySet("expect.TEXT", ["exact", "pattern"])

    /// All of them.
    package static let all: [KeySet] = [
        Self.test, Self.request, Self.client, Self.response, Self.chain, Self.expect, Self.text,
    ]
}
