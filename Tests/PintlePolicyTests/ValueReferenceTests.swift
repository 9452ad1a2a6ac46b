// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// `env:` and `file:` within text.
struct ValueReferenceTests {
    private let surroundings = LoaderEnvironment(
        environment: ["TOKEN": "s3cret"],
        read: { (path, _) throws(LoaderEnvironment.ReadingError) in
            guard path == "/a file" else { throw .notFound }
            return Array("f1le\n".utf8)
        },
        exists: { _ in true })

    @Test(arguments: [
        ("env:TOKEN", "s3cret"), ("Bearer env:TOKEN", "s3cret"), ("file:/a file", "f1le"),
        ("Token file:/a file", "f1le"),
        ("Bearer  env:TOKEN", nil), ("a b env:TOKEN", nil), ("Bearer env:TOKEN x", nil), ("Bearer:env:TOKEN", nil),
        ("", nil),
    ])
    func `LOOK-104 a reference is the whole text, or all behind one word`(text: String, secret: String?) throws {
        let value = try self.surroundings.value(of: text)
        #expect(secret.map { value.hasSuffix($0) && !value.contains("env:") } ?? (value == text), "\(value)")
        #expect(!text.hasPrefix("Bearer env:TOKEN") || text.hasSuffix("x") || value == "Bearer s3cret")
    }

    @Test(arguments: [
        ("Bearer  env:TOKEN", true), ("a b env:TOKEN", true), ("Bearer:env:TOKEN", true), ("x file:/a", true),
        ("Bearer env:TOKEN", false), ("profile:x", false), ("env: a", false), ("a", false), ("(file:/a)", true),
    ])
    func `LOOK-104 what looks like a reference and is none is known`(text: String, isSuspected: Bool) {
        #expect(ValueReference.isSuspected(in: text) == (isSuspected && ValueReference(text) == nil))
    }
}
