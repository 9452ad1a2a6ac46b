// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a body, in words that follow `Request failed: `.
struct BodyProblem: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

extension ResponseContract {
    /// Holds the head to the contract and lets `decode` say whether the body keeps it.
    ///
    /// After a wrong type `decode` is not asked; after a wrong status it is, and what it finds comes first.
    ///
    /// - Returns: what `decode` made of the body; nil where there can be no body, and under a JSON rule for a blank one.
    /// - Throws: the violation, with the one found earlier behind it.
    func read<Result>(
        _ body: [UInt8], of head: ResponseHead, requestMethod: String,
        with decode: ([UInt8]) throws(BodyProblem) -> Result
    ) throws(ValidationError) -> Result? {
        let earlier = self.headError(head, requestMethod, hasBody: !body.isEmpty)
        // What is not of the right type is not worth parsing.
        if let earlier, earlier.has(.responseContentType) { throw earlier }
        var result: Result?
        if !head.forbidsBody(to: requestMethod), !self.isNothing(body) {
            do throws(BodyProblem) {
                if let coding = head.fields.contentCoding {
                    throw BodyProblem("the body is encoded with \(coding), so it cannot be checked")
                }
                result = try decode(body)
            } catch {
                throw Self.error(.responseBody, "Request failed: \(error.message)", head, underlying: earlier)
            }
        }
        if let earlier { throw earlier }
        return result
    }

    /// Whether the body is what JSON services send for "nothing": no byte, or the single space of some frameworks.
    private func isNothing(_ body: [UInt8]) -> Bool {
        guard case .json = self.body else { return false }
        return body.isEmpty || body == [0x20]
    }
}

extension JSONScanner {
    /// - Returns: the document without nulls, where that is asked and there are any.
    func checked(_ body: [UInt8], removingNulls: Bool) throws(BodyProblem) -> [UInt8]? {
        do throws(JSONSyntaxError) {
            if removingNulls { return try self.removingNulls(from: body) }
            try self.validate(body)
            return nil
        } catch {
            throw BodyProblem("invalid JSON: \(error)")
        }
    }
}

extension XMLScanner {
    func checked(_ body: [UInt8]) throws(BodyProblem) {
        do throws(XMLSyntaxError) {
            try self.validate(body)
        } catch {
            throw BodyProblem("invalid XML: \(error)")
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
