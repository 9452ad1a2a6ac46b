// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding

/// Judges a body as it passes by, for who does not have to hold it back.
///
/// Its verdict is that of ``ResponseContract/validate(head:body:requestMethod:)`` on the whole body, wherever the pieces
/// are cut. Memory is bounded by the windows of content codings and by the scanner's nesting limit.
package final class BodyCheck {
    private let head: ResponseHead
    /// What the head has violated.
    private let earlier: ValidationError?
    private let decoder: Result<ContentDecoder?, ContentDecodingError>
    // One of the two, in a place of its own so that it is never copied.
    private var json: JSONValidator?
    private var xml: XMLValidator?
    /// The first two bytes, without content codings.
    private var start: [UInt8] = []
    private var violation: ValidationError?
    /// Whether the last piece was not looked at to its end.
    private var hasMore = false

    /// Makes a check for one response.
    ///
    /// - Parameter unfolding: how many bytes more than the contract's limit each byte of the body may unfold to.
    /// - Returns: nil where the body need not be seen, must be seen whole (rules that replace it, document rules, property
    ///   lists, images and compounds) or is not worth parsing, because it is of a wrong type.
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

    /// Looks at the next piece.
    ///
    /// - Throws: what is wrong with the body as soon as that is certain, with the violation of the head behind it; and
    ///   the same on every later call.
    package func take(_ bytes: UnsafeRawBufferPointer) throws(ValidationError) {
        var bytes = bytes
        _ = try self.take(&bytes, unfoldingTo: .max)
    }

    /// Looks at the next piece, or the rest of it, as far as its content codings unfold to about `allowance` bytes.
    ///
    /// - Parameter bytes: those that were looked at are removed.
    /// - Returns: whether that was all. Otherwise it is to be called again before the next piece comes, also where no byte
    ///   is left.
    /// - Throws: as ``take(_:)``.
    package func take(
        _ bytes: inout UnsafeRawBufferPointer, unfoldingTo allowance: Int
    ) throws(ValidationError) -> Bool {
        if let violation = self.violation { throw violation }
        var progress = ContentDecoder.Progress.done
        try self.noting { () throws(BodyProblem) in
            // A body without a byte has no codings to undo.
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

    /// About how much memory undoing the content codings takes, in bytes.
    package var memory: Int {
        if case .success(let decoder?) = self.decoder { decoder.memory } else { 0 }
    }

    /// Looks at the end, once.
    ///
    /// - Throws: what is wrong with the response, as ``ResponseContract/validate(head:body:requestMethod:)`` has it.
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
