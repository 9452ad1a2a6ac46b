// SPDX-License-Identifier: Apache-2.0

extension StrictNode {
    /// The text of a scalar, with `env:NAME` and `file:PATH` replaced by their values.
    package func string() -> String? {
        guard case .scalar(let scalar) = self.node.content, !self.isNull else {
            self.report(self.isNull ? "has no value; text is missing" : "must be text, not \(self.quoted)")
            return nil
        }
        do throws(Malformed) {
            return try self.context.surroundings.value(of: scalar.string, resolving: self.resolve)
        } catch {
            self.report("\(self.quoted): \(error.reason)")
            return nil
        }
    }

    /// The source of the value, if the text names one.
    var reference: ValueReference? {
        guard case .scalar(let scalar) = self.node.content else { return nil }
        return ValueReference(scalar.string)
    }

    /// Text that is not empty.
    package func nonEmptyString() -> String? {
        guard let text = self.string() else { return nil }
        if text.isEmpty { self.report("must not be empty") }
        return text.isEmpty ? nil : text
    }

    /// The value that `read` makes of the text; nil after its error was reported.
    package func parsed<Value>(_ read: (String) throws(Malformed) -> Value) -> Value? {
        guard let text = self.string() else { return nil }
        do throws(Malformed) {
            return try read(text)
        } catch {
            self.report("\(self.quoted): \(error.reason)")
            return nil
        }
    }

    /// A YAML boolean: true, yes, on, false, no, off, in lower, upper or title case (YAML 1.1).
    package func bool() -> Bool? {
        self.parsed { text throws(Malformed) in
            guard let value = Self.boolean(text) else {
                throw Malformed("must be true or false (also on and off, yes and no)")
            }
            return value
        }
    }

    /// True if the text is a spelling of `off`, `false` or `no`, each of which turns a feature off.
    var isOff: Bool {
        guard case .scalar(let scalar) = self.node.content else { return false }
        return Self.boolean(scalar.string) == false
    }

    /// Returns the value of a text that is a boolean in YAML 1.1; nil if it is none.
    static func boolean(_ text: String) -> Bool? {
        switch text {
        case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON": true
        case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF": false
        default: nil
        }
    }

    /// A whole number within `range`.
    package func int(_ range: ClosedRange<Int>) -> Int? {
        self.parsed { text throws(Malformed) in try Spelling.wholeNumber(text, range) }
    }

    /// One of an enumeration's names.
    package func choice<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type = Choice.self) -> Choice?
    where Choice.RawValue == String {
        self.parsed { text throws(Malformed) in
            if let choice = Choice(rawValue: text) { return choice }
            let names = Choice.allCases.map(\.rawValue)
            let hint = text.nearest(of: names).map { "; did you mean \($0)?" } ?? ""
            throw Malformed("must be \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")\(hint)")
        }
    }

    /// A length of time within `range`: a whole number and `ms`, `s`, `m`, `h` or `d`.
    func duration(_ range: ClosedRange<Duration>) -> Duration? {
        self.parsed { text throws(Malformed) in try Spelling.duration(text, range) }
    }

    /// A number of bytes within `range`: a whole number, also with `KiB`, `MiB` or `GiB`.
    func byteCount(_ range: ClosedRange<Int>) -> Int? {
        self.parsed { text throws(Malformed) in try Spelling.byteCount(text, range) }
    }

    /// Values that `read` makes of a list, or of one text alone; nil if any is faulty.
    package func values<Value>(_ read: (StrictNode) -> Value?) -> [Value]? {
        guard let nodes = self.oneOrMore() else { return nil }
        let values = nodes.compactMap(read)
        return values.count == nodes.count ? values : nil
    }
}

extension LoaderEnvironment.ReadingError {
    /// The error in words, with the path as it was opened.
    package func words(for path: String, limit: Int) -> String {
        switch self {
        case .notFound: "there is no file \(path)"
        case .tooLarge: "the file \(path) is over \(limit.spelledAsBytes)"
        case .unreadable(let reason): "the file \(path) cannot be read: \(reason)"
        }
    }
}

extension Duration {
    /// The duration in the largest unit that divides it, as the configuration writes it.
    package var spelled: String {
        let (seconds, attoseconds) = self.components
        let milliseconds = Int(attoseconds / 1_000_000_000_000_000)
        guard milliseconds == 0 else { return "\(Int(seconds) * 1000 + milliseconds)ms" }
        for (unit, length) in [("d", Int64(86_400)), ("h", 3600), ("m", 60)]
        where seconds != 0 && seconds.isMultiple(of: length) {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}

extension Int {
    /// The number of bytes in the largest unit that divides it, as the configuration writes it.
    package var spelledAsBytes: String {
        for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] where self != 0 && self.isMultiple(of: 1 << shift)
        {
            return "\(self >> shift)\(unit)"
        }
        return "\(self)"
    }
}
