// SPDX-License-Identifier: Apache-2.0

/// One walk through a document whose characters have been checked. Depth costs no recursion.
struct XMLScan {
    struct Failure: Error {
        let offset: Int
        let problem: String

        init(_ offset: Int, _ problem: String) {
            self.offset = offset
            self.problem = problem
        }
    }

    let bytes: [UInt8]
    var index = 0
    private let nestingLimit: Int
    /// The names of the elements that are open.
    private var open: [ArraySlice<UInt8>] = []

    init(_ bytes: [UInt8], nestingLimit: Int) {
        self.bytes = bytes
        self.nestingLimit = nestingLimit
    }

    mutating func document() throws(Failure) {
        try self.declaration()
        try self.prolog()
        try self.startTag()
        while !self.open.isEmpty { try self.content() }
        while self.index < self.bytes.count { try self.miscellany(orElse: "something follows the document's element") }
    }

    // MARK: Around the element

    /// Comments, instructions and white space, with one document type declaration among them.
    private mutating func prolog() throws(Failure) {
        var mayHaveType = true
        while true {
            self.skipSpace()
            if mayHaveType, self.take("<!DOCTYPE") {
                try self.documentType()
                mayHaveType = false
            } else if self.isAt("<!--") || self.isAt("<?") {
                try self.miscellany(orElse: "")
            } else {
                guard self.isAt("<") else { throw self.failure("the first element is due") }
                return
            }
        }
    }

    private mutating func miscellany(orElse problem: String) throws(Failure) {
        self.skipSpace()
        if self.index == self.bytes.count { return }
        if self.take("<!--") {
            try self.comment()
        } else if self.take("<?") {
            try self.instruction()
        } else {
            throw self.failure(problem)
        }
    }

    // MARK: Elements

    /// A whole start tag, which opens an element unless it ends with `/>`.
    private mutating func startTag() throws(Failure) {
        try self.demand("<", "a tag")
        let name = try self.name("the name of an element")
        var attributes: Set<ArraySlice<UInt8>> = []
        while true {
            let hasSpace = self.skipSpace()
            if self.take("/>") { return }
            if self.take(">") { break }
            guard hasSpace else { throw self.failure("“>”, “/>” or white space is due") }
            let start = self.index
            let attribute = try self.name("the name of an attribute, “>” or “/>”")
            guard attributes.insert(attribute).inserted else {
                throw Failure(start, "a second attribute “\(Self.text(attribute))”")
            }
            try self.equals()
            try self.attributeValue()
        }
        guard self.open.count < self.nestingLimit else {
            throw self.failure("more than \(self.nestingLimit) levels of elements")
        }
        self.open.append(name)
    }

    private mutating func endTag() throws(Failure) {
        let start = self.index - 2
        let name = try self.name("the name of an element")
        self.skipSpace()
        try self.demand(">", "“>”")
        guard let last = self.open.popLast() else { return }
        guard last == name else {
            throw Failure(start, "“</\(Self.text(name))>” where “</\(Self.text(last))>” is due")
        }
    }

    /// The next tag, reference, comment, instruction or section within an element, with the text before it.
    private mutating func content() throws(Failure) {
        while self.index < self.bytes.count {
            switch self.bytes[self.index] {
            case UInt8(ascii: "<"): return try self.markup()
            case UInt8(ascii: "&"): try self.reference()
            case UInt8(ascii: "]") where self.isAt("]]>"): throw self.failure("“]]>” in text, which must be escaped")
            default: self.index += 1
            }
        }
        let name = self.open.last.map { Self.text($0) } ?? ""
        throw self.failure("the end, while “\(name)” is open")
    }

    private mutating func markup() throws(Failure) {
        if self.take("</") {
            try self.endTag()
        } else if self.take("<!--") {
            try self.comment()
        } else if self.take("<![CDATA[") {
            try self.skip(past: "]]>", "a CDATA section without end")
        } else if self.take("<?") {
            try self.instruction()
        } else {
            try self.startTag()
        }
    }

    static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes.prefix(64), as: UTF8.self) }
}
