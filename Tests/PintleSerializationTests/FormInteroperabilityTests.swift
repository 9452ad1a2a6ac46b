// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

/// Python and Node do not share our readers and writers: they read forms written here, and forms that they write are read
/// here.
@Suite struct FormInteroperabilityTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private static let text = "ä & = + % [x] \"q\" \\ \r\n😀\u{2028}"

    private let flat: Parameter = [
        "a b": "1", "list[]": "x", "quote\"ü": .string(Self.text), "s": .set(["p", "q"]), "z": "",
    ]

    /// Runs a program; each of its lines is one value in JSON.
    private func run(_ program: String, _ arguments: [String]) throws -> [Parameter] {
        let child = try ChildProcess("/usr/bin/env", [program] + arguments, folder: self.folder.path)
        #expect(try child.waitForExit() == 0, "\(child.errors)")
        return try child.output.map { try JSONScanner(fragmentsAllowed: true).parse(bytes($0)) }
    }

    private func python(_ script: String) throws -> [Parameter] {
        try self.run("python3", ["-X", "utf8", "-c", script])
    }

    private func node(_ script: String) throws -> [Parameter] { try self.run("node", ["-e", script]) }

    private func read(_ name: String, type: String) throws -> Parameter? {
        let body = Array(try Data(contentsOf: URL(fileURLWithPath: "\(self.folder.path)/\(name)")))
        return try IncomingParameters.read(request("POST", "/", ["Content-Type": type]), body: body)
    }

    /// The form of `flat` for other programs: pairs in the order of a query.
    private let pairs: Parameter = [
        ["a b", "1"], ["list[]", "x"], ["quote\"ü", .string(Self.text)], ["s", "p"], ["s", "q"], ["z", ""],
    ]

    @Test func `python reads a form and writes one that is read`() throws {
        try self.folder.write(try QueryString.encode(self.flat), to: "ours")
        let lines = try self.python(
            """
            import json, urllib.parse; tell = print
            pairs = urllib.parse.parse_qsl(open('ours').read(), keep_blank_values=True, strict_parsing=True)
            tell(json.dumps(pairs))
            open('theirs', 'w').write(urllib.parse.urlencode(pairs))
            """)
        #expect(lines == [self.pairs])
        #expect(
            try self.read("theirs", type: "application/x-www-form-urlencoded") == [
                "a b": "1", "list": ["x"], "quote\"ü": .string(Self.text), "s": .set(["p", "q"]), "z": "",
            ])
    }

    @Test func `node reads a form and writes one that is read`() throws {
        try self.folder.write(try QueryString.encode(self.flat), to: "ours")
        let lines = try self.node(
            """
            const fs = require('fs');
            const pairs = new URLSearchParams(fs.readFileSync('ours', 'utf8'));
            console.log(JSON.stringify([...pairs]));
            fs.writeFileSync('theirs', pairs.toString());
            """)
        #expect(lines == [self.pairs])
        #expect(
            try self.read("theirs", type: "application/x-www-form-urlencoded; charset=UTF-8") == [
                "a b": "1", "list": ["x"], "quote\"ü": .string(Self.text), "s": .set(["p", "q"]), "z": "",
            ])
    }

    private let withFiles: Parameter = [
        "a": ["b": "1"], "blob": .data([0, 255, 13, 10]), "empty": "", "l": ["x", "y"],
        "pic\"ü": .file(FilePart([0xFF, 13, 10, 45, 45], fileName: "ü \"1\".png", mediaType: "image/png")),
    ]

    @Test func `python reads multipart and writes some that is read`() throws {
        let written = try MultipartRequestSerializer().serialize(request("POST"), parameters: self.withFiles)
        let type = try #require(written.head.fields["Content-Type"])
        try self.folder.write(bytes("Content-Type: \(type)\r\n\r\n") + (written.body ?? []), to: "ours")
        let lines = try self.python(
            """
            import email, email.policy, json; tell = print
            message = email.message_from_bytes(open('ours', 'rb').read(), policy=email.policy.HTTP)
            assert not message.defects
            for part in message.iter_parts():
                assert not part.defects
                tell(json.dumps([part.get_param('name', header='content-disposition'), part.get_filename(),
                                  part.get_content_type(), part.get_payload(decode=True).hex()]))
            """)
        #expect(
            lines == [
                ["a[b]", .null, "text/plain", "31"], ["blob", .null, "text/plain", "00ff0d0a"],
                ["empty", .null, "text/plain", ""], ["l[]", .null, "text/plain", "78"],
                ["l[]", .null, "text/plain", "79"], ["pic%22ü", "ü %221%22.png", "image/png", "ff0d0a2d2d"],
            ])
        _ = try self.python(
            """
            from email.mime.multipart import MIMEMultipart
            from email.mime.nonmultipart import MIMENonMultipart
            import email.policy
            form = MIMEMultipart('form-data', boundary='of python')
            for name, file, value in [('a[b]', None, '1'), ('f', 'x.csv', '1,2')]:
                part = MIMENonMultipart('text', 'csv', charset='us-ascii')
                part.add_header('Content-Disposition', 'form-data', name=name, **({'filename': file} if file else {}))
                part.set_payload(value)
                form.attach(part)
            head, body = form.as_bytes(policy=email.policy.HTTP).split(b'\\r\\n\\r\\n', 1)
            open('theirs', 'wb').write(body)
            """)
        #expect(
            try self.read("theirs", type: "multipart/form-data; boundary=\"of python\"") == [
                "a": ["b": "1"],
                "f": .file(FilePart(bytes("1,2"), fileName: "x.csv", mediaType: "text/csv; charset=\"us-ascii\"")),
            ])
    }

    @Test func `node reads multipart and writes some that is read`() throws {
        let written = try MultipartRequestSerializer().serialize(request("POST"), parameters: self.withFiles)
        let type = try #require(written.head.fields["Content-Type"])
        try self.folder.write(written.body ?? [], to: "ours")
        let lines = try self.node(
            """
            const fs = require('fs');
            (async () => {
              const headers = {'Content-Type': '\(type)'};
              const form = await new Response(fs.readFileSync('ours'), {headers}).formData();
              for (const [name, value] of form) {
                const bytes = typeof value === 'string' ? null : Buffer.from(await value.arrayBuffer()).toString('hex');
                console.log(JSON.stringify(bytes === null ? [name, value] : [name, value.name, value.type, bytes]));
              }
              const own = new FormData();
              own.append('a[b]', '1');
              own.append('l[]', 'x\\r\\ny');
              own.append('l[]', 'ü');
              own.append('pic"\\n', new Blob([new Uint8Array([255, 13, 10])], {type: 'image/png'}), 'ü "1".png');
              const answer = new Response(own);
              fs.writeFileSync('theirs', Buffer.from(await answer.arrayBuffer()));
              fs.writeFileSync('type', answer.headers.get('content-type'));
            })();
            """)
        #expect(
            lines == [
                ["a[b]", "1"], ["blob", "\u{0}\u{FFFD}\r\n"], ["empty", ""], ["l[]", "x"], ["l[]", "y"],
                ["pic\"ü", "ü \"1\".png", "image/png", "ff0d0a2d2d"],
            ])
        let theirType = try String(contentsOfFile: "\(self.folder.path)/type", encoding: .utf8)
        let read = try self.read("theirs", type: theirType)
        // A line end in a name is normalised to CR LF by those who write it.
        #expect(
            read == [
                "a": ["b": "1"], "l": ["x\r\ny", "ü"],
                "pic\"\r\n": .file(FilePart([255, 13, 10], fileName: "ü \"1\".png", mediaType: "image/png")),
            ])
    }

    @Test func `python and node read JSON with every digit they can hold`() throws {
        let parameter: Parameter = [
            "text": .string(Self.text), "list": [1, -2.5, true, .null, []], "big": 9_007_199_254_740_991,
            "huge": .decimal("123456789012345678901234567890"),
        ]
        try self.folder.write(try JSONWriter.write(parameter), to: "ours")
        let script = "import json; tell = print; tell(json.dumps(json.load(open('ours'))))"
        #expect(try self.python(script) == [parameter])
        try self.folder.write(try JSONWriter.write(["t": .string(Self.text), "n": [1, 2.5, 1e300]]), to: "ours")
        let theirs = try self.node(
            "console.log(JSON.stringify(JSON.parse(require('fs').readFileSync('ours', 'utf8'))))")
        #expect(theirs == [["t": .string(Self.text), "n": [1, 2.5, 1e300]]])
    }

    @Test(arguments: [PropertyListWriter.Format.xml, .binary])
    func `python reads property lists with dates and bytes, and writes some that are read`(
        format: PropertyListWriter.Format
    ) throws {
        let parameter: Parameter = [
            "bytes": .data([0, 255]), "huge": .decimal("18446744073709551615"), "list": [1, 2.5, true, "ä"],
            "when": .date(86400),
        ]
        try self.folder.write(try PropertyListWriter.write(parameter, format: format), to: "ours")
        let lines = try self.python(
            """
            import json, plistlib; tell = print
            value = plistlib.load(open('ours', 'rb'))
            tell(json.dumps([value['bytes'].hex(), value['huge'], value['list'], value['when'].isoformat()]))
            plistlib.dump(value, open('theirs', 'wb'), fmt=plistlib.\(format == .xml ? "FMT_XML" : "FMT_BINARY"))
            """)
        #expect(
            lines == [["00ff", .decimal("18446744073709551615"), [1, 2.5, true, "ä"], "1970-01-02T00:00:00"]])
        #expect(try self.read("theirs", type: "application/x-plist") == parameter)
    }
}
