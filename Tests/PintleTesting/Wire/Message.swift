// SPDX-License-Identifier: Apache-2.0

/// The head of a message as it was on the wire.
package struct MessageHead: Sendable, Equatable {
    /// One field line.
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The request line or the status line.
    package let startLine: String
    /// The field lines, in order, spelled as they came.
    package let fields: [Field]

    /// The values of every field called `name`, without regard to letter case.
    package func values(_ name: String) -> [String] {
        self.fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The first value of the field called `name`.
    package subscript(_ name: String) -> String? { self.values(name).first }

    /// The status of a status line; 0 for a request.
    package var status: Int {
        let parts = self.startLine.split(separator: " ", maxSplits: 2)
        return parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    }

    /// The reason phrase of a status line.
    package var reason: String {
        let parts = self.startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count > 2 ? String(parts[2]) : ""
    }

    package init(startLine: String, fields: [Field]) {
        self.startLine = startLine
        self.fields = fields
    }

    /// Parses the lines of a head, given without their line ends.
    package init(lines: [String]) {
        self.startLine = lines.first ?? ""
        self.fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1] : ""
            return Field(name: String(parts[0]), value: String(value.drop { $0 == " " }))
        }
    }
}

/// A whole message as it was on the wire, its body without framing.
package struct Message: Sendable, Equatable {
    package let head: MessageHead
    package let body: [UInt8]
    package let trailers: [MessageHead.Field]

    /// The body as text.
    package var text: String { String(decoding: self.body, as: UTF8.self) }
    package var status: Int { self.head.status }
    package subscript(_ name: String) -> String? { self.head[name] }
}

extension SocketStream {
    /// Reads up to and including the empty line.
    package func readHead() throws -> MessageHead {
        var lines: [String] = []
        while true {
            let line = try self.readLine()
            if line.isEmpty { return MessageHead(lines: lines) }
            lines.append(line)
        }
    }

    /// Reads a request with its body.
    package func readRequest() throws -> Message {
        let head = try self.readHead()
        return try self.readBody(of: head, untilClose: false)
    }

    /// Reads the body that belongs to a request's head.
    package func readBody(of head: MessageHead) throws -> Message { try self.readBody(of: head, untilClose: false) }

    /// Reads a response with its body.
    ///
    /// - Parameters:
    ///   - method: the method of the request; a response to HEAD has no body.
    ///   - final: true to skip interim responses.
    package func readResponse(to method: String = "GET", final: Bool = true) throws -> Message {
        var head = try self.readHead()
        while final, (100..<200).contains(head.status), head.status != 101 { head = try self.readHead() }
        if method == "HEAD" || head.status < 200 || [204, 304].contains(head.status) {
            return Message(head: head, body: [], trailers: [])
        }
        return try self.readBody(of: head, untilClose: true)
    }

    private func readBody(of head: MessageHead, untilClose: Bool) throws -> Message {
        if head["Transfer-Encoding"]?.lowercased() == "chunked" { return try self.readChunks(of: head) }
        if let length = head["Content-Length"].flatMap({ Int($0) }) {
            return Message(head: head, body: try self.read(length), trailers: [])
        }
        return Message(head: head, body: untilClose ? try self.readToEnd().bytes : [], trailers: [])
    }

    private func readChunks(of head: MessageHead) throws -> Message {
        var body: [UInt8] = []
        while true {
            let line = try self.readLine()
            guard let size = Int(line.prefix { $0 != ";" }, radix: 16) else { throw TestFailure("chunk size \(line)") }
            if size == 0 { break }
            body += try self.read(size)
            guard try self.read(2) == [13, 10] else { throw TestFailure("a chunk does not end where it says") }
        }
        var lines = [""]
        while case let line = try self.readLine(), !line.isEmpty { lines.append(line) }
        return Message(head: head, body: body, trailers: MessageHead(lines: lines).fields)
    }
}

extension Message {
    /// The method of a request.
    package var method: String { self.head.startLine.split(separator: " ").first.map(String.init) ?? "" }
    /// The target of a request.
    package var target: String { self.head.startLine.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
}
