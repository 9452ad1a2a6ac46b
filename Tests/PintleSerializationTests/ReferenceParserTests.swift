// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization
import PintleTesting
import Testing

/// Damaged documents, judged here and by the parsers of python: its `json`, and expat.
@Suite struct ReferenceParserTests {
    /// - Returns: for each document, whether the script writes `yes` for it.
    private func verdicts(on documents: [[UInt8]], by script: String) throws -> [Bool] {
        let folder = try TemporaryFolder()
        try folder.write(documents.map { Data($0).base64EncodedString() + "\n" }.joined(), to: "documents")
        let reader = """
            import base64, sys
            with open('documents') as file:
                for line in file:
                    sys.stdout.write(('yes' if accepts(base64.b64decode(line)) else 'no') + chr(10))
            """
        let child = try ChildProcess("/usr/bin/python3", ["-c", script + "\n" + reader], folder: folder.path)
        #expect(try child.waitForExit() == 0, "\(child.errors)")
        try #require(child.output.count == documents.count)
        return child.output.map { $0 == "yes" }
    }

    /// Python's `json` takes NaN and infinities, and halves of surrogate pairs; the script does not.
    @Test func `another parser of JSON draws the same line through damaged documents`() throws {
        let script = """
            import json
            def refuse(name):
                raise ValueError(name)
            def accepts(data):
                try:
                    text = data.decode(json.detect_encoding(data), 'strict')
                    value = json.loads(text, parse_constant=refuse, object_pairs_hook=list)
                    json.dumps(value, ensure_ascii=False).encode('utf-8', 'strict')
                    return True
                except ValueError:
                    return False
            """
        var random = SeededGenerator(seed: 21)
        var documents: [[UInt8]] = []
        for _ in 0..<4000 {
            var document = try JSONWriter.write(
                RandomParameter.document(depth: 3, &random), options: Bool.random(using: &random) ? .pretty : [])
            for _ in 0..<Int.random(in: 0...2, using: &random) { Mutation.json.apply(to: &document, &random) }
            documents.append(document)
        }
        let theirs = try self.verdicts(on: documents, by: script)
        for (document, theirs) in zip(documents, theirs) {
            let ours = (try? JSONScanner(fragmentsAllowed: true).validate(document)) != nil
            if ours != theirs { Issue.record("python says \(theirs): \(text(document) ?? "") \(document)") }
        }
        #expect(theirs.count { $0 } > 1000 && theirs.count { !$0 } > 1000)
    }

    /// Expat takes any version; the script holds it to 1.0's grammar.
    @Test func `another parser of XML draws the same line through damaged documents`() throws {
        let script = """
            import re, xml.parsers.expat
            def check(version, encoding, standalone):
                if not re.fullmatch('1[.][0-9]+', version):
                    raise ValueError(version)
            def accepts(data):
                try:
                    parser = xml.parsers.expat.ParserCreate()
                    parser.XmlDeclHandler = check
                    parser.Parse(data, True)
                    return True
                except (xml.parsers.expat.ExpatError, LookupError, ValueError):
                    return False
            """
        var random = SeededGenerator(seed: 22)
        var documents: [[UInt8]] = []
        for _ in 0..<4000 {
            var document = bytes(RandomXML.document(&random))
            for _ in 0..<Int.random(in: 0...2, using: &random) { Mutation.xml.apply(to: &document, &random) }
            // Python decodes documents that declare “UTF8” byte by byte.
            if text(document)?.contains("UTF8") == true { continue }
            documents.append(document)
        }
        let theirs = try self.verdicts(on: documents, by: script)
        for (document, theirs) in zip(documents, theirs) {
            let ours = (try? XMLScanner().validate(document)) != nil
            if ours != theirs { Issue.record("expat says \(theirs): \(text(document) ?? "") \(document)") }
        }
        #expect(theirs.count { $0 } > 1000 && theirs.count { !$0 } > 1000)
    }
}
