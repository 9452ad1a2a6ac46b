// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding
package import PintleMessage

/// Checks a body in pieces as it passes through, so that the caller need not hold it back.
///
/// The verdict is that of ``ResponseContract/validate(head:body:requestMethod:)`` on the whole body, however it is cut into
/// pieces. Memory is bounded by the windows of content codings and by the scanner's nesting limit.
package final class BodyCheck {
    private let head: ResponseHead
    /// The violation of the head, if any.
    private let earlier: ValidationError?
    private let decoder: Result<ContentDecoder?, ContentDecodingError>
    // Only one of these two is set. Separate properties, so that neither is ever copied.
    private var json: JSONValidator?
    private var xml: XMLValidator?
    /// The first two bytes, after content codings are undone.
    private var start: [UInt8] = []
    private var violation: ValidationError?
    /// True if a part of the last piece is still to be decoded.
    private var hasMore = false

    /// Makes a check for one response.
    ///
    /// - Parameter unfolding: the number of decoded bytes that each byte of the body allows beyond the contract's limit.
    /// - Returns: nil if the body need not be checked, must be checked as a whole (rules that replace it, document rules,
    ///   property lists, images and compounds), or is not worth parsing because its type is wrong.
    package init?(_ contract: ResponseContract, head: ResponseHead, requestMethod: String, unfolding: Int = 0) {
        guard contract.bodyNeed(for: head, requestMethod: requestMethod) == .whole else { return nil }
        switch contract.body {
        case .json(let rule) where !rule.removesNulls && rule.document == nil:
            self.json = JSONValidator(rule.scanner)
        case .xml(let scanner): self.xml = XMLValidator(scanner)
        case .any, .json, .propertyList, .image, .compound: return nil
        }
        let earlier = contract.validateHead(head, requestMethod: requestMethod)
        if let earlier, earlier.has(.responseContentType) { return nil }
        self.earlier = earlier
        self.head = head
        self.decoder = Result { () throws(ContentDecodingError) in
            let codings = try head.fields.contentCodings()
            return codings.isEmpty
                ? nil : try ContentDecoder(codings, limit: contract.decodedLimit, unfolding: unfolding)
        }
    }

    /// Checks the next piece.
    ///
    /// - Throws: the violation of the body as soon as it is certain, with that of the head as the underlying one; again on
    ///   every later call.
    package func take(_ bytes: UnsafeRawBufferPointer) throws(ValidationError) {
        var bytes = bytes
        _ = try self.take(&bytes, unfoldingTo: .max)
    }

    /// Checks the next piece, or the rest of it, until its content codings have been undone to about `allowance` bytes.
    ///
    /// - Parameter bytes: the piece; checked bytes are removed.
    /// - Returns: true if the whole piece is checked. If false, call it again before the next piece comes, even if no byte
    ///   is left.
    /// - Throws: the errors of ``take(_:)``.
    package func take(
        _ bytes: inout UnsafeRawBufferPointer, unfoldingTo allowance: Int
    ) throws(ValidationError) -> Bool {
        if let violation = self.violation { throw violation }
        var progress = ContentDecoder.Progress.done
        try self.noting { () throws(BodyProblem) in
            // An empty body has no codings to undo.
            guard !bytes.isEmpty || self.hasMore else { return }
            guard let decoder = try self.undoing({ () throws(ContentDecodingError) in try self.decoder.get() }) else {
                try self.read(bytes)
                bytes = UnsafeRawBufferPointer(rebasing: bytes[bytes.count...])
                return
            }
            var problem: BodyProblem?
            progress = try self.undoing { () throws(ContentDecodingError) in
                try decoder.decode(&bytes, atMost: allowance) { piece in
                    do throws(BodyProblem) {
                        try self.read(piece)
                    } catch {
                        problem = error
                    }
                    return problem == nil
                }
            }
            if let problem { throw problem }
        }
        self.hasMore = progress == .more
        return !self.hasMore
    }

    /// The approximate memory for undoing the content codings, in bytes.
    package var memory: Int {
        if case .success(let decoder?) = self.decoder { decoder.memory } else { 0 }
    }

    /// Checks the end of the body. To be called once.
    ///
    /// - Throws: the violation that ``ResponseContract/validate(head:body:requestMethod:)`` would return.
    package func finish() throws(ValidationError) {
        if let violation = self.violation { throw violation }
        try self.noting { () throws(BodyProblem) in
            if case .success(let decoder?) = self.decoder {
                try self.undoing { () throws(ContentDecodingError) in try decoder.finish() }
            }
            try self.end()
        }
        guard let earlier = self.earlier else { return }
        self.violation = earlier
        throw earlier
    }

    // MARK: Inside

    private func read(_ bytes: UnsafeRawBufferPointer) throws(BodyProblem) {
        if self.start.count < 2 { self.start += bytes.prefix(2 - self.start.count) }
        do throws(JSONSyntaxError) {
            try self.json?.take(bytes)
        } catch {
            throw BodyProblem(error)
        }
        do throws(XMLSyntaxError) {
            try self.xml?.take(bytes)
        } catch {
            throw BodyProblem(error)
        }
    }

    private func end() throws(BodyProblem) {
        if self.json != nil, ResponseContract.JSONRule.isBlank(self.start) { return }
        do throws(JSONSyntaxError) {
            try self.json?.finish()
        } catch {
            throw BodyProblem(error)
        }
        do throws(XMLSyntaxError) {
            try self.xml?.finish()
        } catch {
            throw BodyProblem(error)
        }
    }

    private func undoing<Value>(
        _ body: () throws(ContentDecodingError) -> Value
    ) throws(BodyProblem) -> Value {
        do throws(ContentDecodingError) {
            return try body()
        } catch {
            throw BodyProblem(error)
        }
    }

    private func noting(_ body: () throws(BodyProblem) -> Void) throws(ValidationError) {
        do throws(BodyProblem) {
            try body()
        } catch {
            let violation = ResponseContract.error(error, self.head, underlying: self.earlier)
            self.violation = violation
            throw violation
        }
    }
}
