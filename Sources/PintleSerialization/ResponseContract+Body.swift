// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding
internal import PintleMessage

/// The reason why a body breaks the contract, in words that follow `Request failed: `.
struct BodyProblem: Error {
    let kind: ValidationError.Kind
    let message: String
    let details: [String]

    init(_ message: String, kind: ValidationError.Kind = .responseBody, details: [String] = []) {
        self.kind = kind
        self.message = message
        self.details = details
    }

    init(_ error: JSONSyntaxError) { self.init("invalid JSON: \(error)") }

    init(_ error: XMLSyntaxError) { self.init("invalid XML: \(error)") }

    init(_ error: ContentDecodingError) {
        if case .beyondLimit = error {
            self.init("the body is too large to be checked: \(error)", kind: .bodyTooLarge)
        } else {
            self.init("the body cannot be checked: \(error)")
        }
    }
}

extension ResponseContract {
    /// Checks the head against the contract, and calls `decode` to check and decode the body.
    ///
    /// After a wrong type `decode` is not called; after a wrong status it is, and its error comes first.
    ///
    /// - Parameter decode: receives the body after its content codings are undone.
    /// - Returns: the result of `decode`; nil if the response cannot have a body, and for a blank body under a JSON rule
    ///   that accepts it.
    /// - Throws: the violation; one of the head becomes its underlying error.
    func read<Result>(
        _ body: [UInt8], of head: ResponseHead, requestMethod: String, within budget: WorkBudget = .unlimited,
        with decode: ([UInt8]) throws(BodyProblem) -> Result
    ) throws(ValidationError) -> Result? {
        let earlier = self.headError(head, requestMethod, hasBody: !body.isEmpty)
        // A body of the wrong type is not worth parsing.
        if let earlier, earlier.has(.responseContentType) { throw earlier }
        var result: Result?
        if !head.forbidsBody(to: requestMethod) {
            do throws(BodyProblem) {
                let plain = try self.plain(body, of: head, within: budget)
                if !self.isNothing(plain) { result = try decode(plain) }
            } catch {
                throw Self.error(error, head, underlying: earlier)
            }
        }
        if let earlier { throw earlier }
        return result
    }

    static func error(
        _ problem: BodyProblem, _ head: ResponseHead, underlying: ValidationError?
    ) -> ValidationError {
        ValidationError(
            problem.kind, "Request failed: \(problem.message)", status: head.status,
            contentType: head.fields[.contentType], details: problem.details, underlying: underlying)
    }

    /// Returns the body after undoing its content codings.
    private func plain(
        _ body: [UInt8], of head: ResponseHead, within budget: WorkBudget
    ) throws(BodyProblem) -> [UInt8] {
        guard !body.isEmpty, head.fields.contains(.contentEncoding) else { return body }
        do throws(ContentDecodingError) {
            let codings = try head.fields.contentCodings()
            return codings.isEmpty
                ? body
                : try ContentDecoder.decoded(body, codings, limit: self.decodedLimit, admits: budget.admits(decoded:))
        } catch {
            throw BodyProblem(error)
        }
    }

    private func isNothing(_ body: [UInt8]) -> Bool {
        guard case .json(let rule) = self.body else { return false }
        return rule.isNothing(body)
    }
}

extension WorkBudget {
    /// The number of bytes that can be scanned in the time of one step.
    private static let bytesPerStep = 16
    /// The number of steps for making one value from its bytes.
    private static let stepsPerValue = 4

    /// Charges the budget for a decoded piece of a body.
    ///
    /// - Returns: true if the piece may be kept.
    package func admits(decoded count: Int) -> Bool { self.reserve(count) && self.spend(count / Self.bytesPerStep) }

    /// Charges the budget for one pass over a body.
    func admit(scanning body: [UInt8]) throws(BodyProblem) {
        guard self.spend(body.count / Self.bytesPerStep) else { throw BodyProblem("it was not looked at to the end") }
    }

    /// Charges the budget for the tree of a body before it is made.
    func admit(reading body: [UInt8]) throws(BodyProblem) {
        guard self.admits(reading: body) else { throw BodyProblem("it was not looked at to the end") }
    }

    /// Charges the budget for the tree of a body before it is made.
    ///
    /// - Returns: true if it may be made.
    package func admits(reading body: [UInt8]) -> Bool {
        guard self.isBounded else { return true }
        let weight = DocumentWeight(of: body)
        return self.reserve(weight.treeBytes)
            && self.spend(body.count / Self.bytesPerStep + Self.stepsPerValue * weight.valueCount)
    }
}

extension ResponseContract.BodyRule {
    /// Checks a body without content codings against the rule.
    func check(_ body: [UInt8], within budget: WorkBudget = .unlimited) throws(BodyProblem) -> CheckedBody {
        try budget.admit(scanning: body)
        switch self {
        case .any: return CheckedBody()
        case .json(let rule): return CheckedBody(replacement: try rule.check(body, within: budget))
        case .xml(let scanner):
            try scanner.checked(body)
            return CheckedBody()
        case .propertyList:
            try budget.admit(reading: body)
            _ = try PropertyListReader.checked(body)
            return CheckedBody()
        case .image(let rule): return CheckedBody(imageSize: try rule.checker.checked(body, within: budget))
        case .compound(let rules): return try Self.check(body, rules, within: budget)
        }
    }

    private static func check(
        _ body: [UInt8], _ rules: [ResponseContract.BodyRule], within budget: WorkBudget
    ) throws(BodyProblem) -> CheckedBody {
        var sentences: [String] = []
        for rule in rules {
            do throws(BodyProblem) {
                return try rule.check(body, within: budget)
            } catch {
                guard budget.interruption == nil else { throw error }
                sentences.append(error.message)
            }
        }
        guard !rules.isEmpty else { throw BodyProblem("the list of rules is empty, so no body passes") }
        throw BodyProblem(
            "no rule of the list takes the body: \(sentences.joined(separator: "; "))", details: sentences)
    }
}

extension ResponseContract.JSONRule {
    /// The number of a document's violations in the message; all of them are in ``ValidationError/details``.
    private static let toldViolations = 3

    /// True if the body is one that JSON services send for "nothing": empty, or the single space of some frameworks.
    static func isBlank(_ body: [UInt8]) -> Bool { body.isEmpty || body == [0x20] }

    /// True if the rule accepts the body although it is blank, and thus not a document.
    func isNothing(_ body: [UInt8]) -> Bool { self.takesNothing && Self.isBlank(body) }

    /// - Returns: the document without nulls, if the rule removes them and there are any.
    func check(_ body: [UInt8], within budget: WorkBudget = .unlimited) throws(BodyProblem) -> [UInt8]? {
        if self.isNothing(body) { return nil }
        do throws(JSONSyntaxError) {
            guard self.document != nil else {
                if self.removesNulls { return try self.scanner.removingNulls(from: body) }
                try self.scanner.validate(body)
                return nil
            }
        } catch {
            throw BodyProblem(error)
        }
        return try self.read(body, within: budget).replacement
    }

    /// Checks a document against the rule, and reads it.
    ///
    /// - Returns: its value, and its bytes without nulls if any were removed.
    func read(
        _ body: [UInt8], within budget: WorkBudget = .unlimited
    ) throws(BodyProblem) -> (value: Parameter, replacement: [UInt8]?) {
        try budget.admit(reading: body)
        let value: Parameter
        let replacement: [UInt8]?
        do throws(JSONSyntaxError) {
            replacement = self.removesNulls ? try self.scanner.removingNulls(from: body) : nil
            value = try self.scanner.parse(replacement ?? body)
        } catch {
            throw BodyProblem(error)
        }
        let violations: [String]
        if let document = self.document as? any MeteredDocumentRule {
            violations = document.violations(of: value, within: budget)
        } else {
            violations = self.document?.violations(of: value) ?? []
        }
        guard violations.isEmpty else { throw Self.problem(violations) }
        return (value, replacement)
    }

    private static func problem(_ violations: [String]) -> BodyProblem {
        var message = "unacceptable JSON: \(violations.prefix(Self.toldViolations).joined(separator: "; "))"
        let rest = violations.count - Self.toldViolations
        if rest > 0 { message += "; and \(rest) more" }
        return BodyProblem(message, details: violations)
    }
}

extension XMLScanner {
    func checked(_ body: [UInt8]) throws(BodyProblem) {
        do throws(XMLSyntaxError) {
            try self.validate(body)
        } catch {
            throw BodyProblem(error)
        }
    }
}

extension PropertyListReader {
    static func checked(_ body: [UInt8]) throws(BodyProblem) -> PropertyListValue {
        do throws(PropertyListError) {
            return try Self.read(body)
        } catch {
            throw BodyProblem("invalid property list: \(error)")
        }
    }
}
