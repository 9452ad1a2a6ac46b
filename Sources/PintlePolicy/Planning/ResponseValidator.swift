// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage
package import PintleSerialization

/// The rules that a response must keep to: those of its route, then the contract of its operation.
package struct ResponseValidator: Sendable {
    package let onViolation: ResponseRules.OnViolation
    /// The longest body that the route accepts, in bytes on the wire.
    package let maxBody: Int?
    private var contracts: [ResponseContract]
    private let operation: ContractedOperation?
    private let method: String
    /// True if the operation does not declare such a response: nothing else is checked then.
    package private(set) var isUndeclared = false

    /// - Parameter method: the request's method.
    package init(
        _ contract: ResponseContract?, _ operation: ContractedOperation?, method: String,
        onViolation: ResponseRules.OnViolation, maxBody: Int?
    ) {
        self.contracts = contract.map { [$0] } ?? []
        self.operation = operation
        self.method = method
        self.onViolation = onViolation
        self.maxBody = maxBody
    }

    /// True if bodies are checked.
    private var readsBody: Bool { self.operation != nil || self.contracts.contains { $0.body.readsBody } }

    /// True if only heads are checked, so that an endless stream may follow.
    package var judgesHeadsOnly: Bool { !self.readsBody && self.maxBody == nil }

    /// True if origins are asked for whole representations only.
    package var asksForWhole: Bool { self.readsBody && self.onViolation != .report }

    /// Asks the origin for a response that can be judged: with codings that can be decoded and, unless violations are only
    /// reported, the whole representation. A proxy may drop Range, since any origin may ignore it (RFC 9110 §14.2).
    package func prepare(_ fields: inout Fields) {
        guard self.readsBody else { return }
        fields.narrowAcceptEncoding()
        guard self.asksForWhole else { return }
        fields.remove("Range")
        fields.remove("If-Range")
    }

    /// Returns the violation by the head alone; for a response that has no body.
    package mutating func violation(of head: ResponseHead, length: UInt64?) -> ValidationError? {
        do throws(ValidationError) {
            if let contract = try self.operation?.contract(for: head, to: self.method) {
                self.contracts.append(contract)
            }
        } catch {
            self.isUndeclared = true
            return error
        }
        var errors = self.contracts.map { $0.validateHead(head, requestMethod: self.method) }
        if let maxBody, let length, length > maxBody, !head.forbidsBody(to: self.method) {
            errors.append(Self.beyond(maxBody, head))
        }
        return ValidationError.ordered(errors)
    }

    /// Judges a head. Called once, before all questions about the body.
    ///
    /// - Returns: the violation by the head alone, and the part of the body that must be seen: nothing if no body could change
    ///   the verdict.
    package mutating func judgeHead(
        _ head: ResponseHead, length: UInt64?
    ) -> (violation: ValidationError?, need: ResponseContract.BodyNeed) {
        let violation = self.violation(of: head, length: length)
        let isFinal =
            self.isUndeclared || violation?.has(.responseContentType) == true || violation?.has(.bodyTooLarge) == true
        return (violation, isFinal ? .nothing : self.need(for: head))
    }

    /// Judges a whole response as it is judged on its way to a client.
    ///
    /// - Parameter bodyBuffer: the longest body in bytes that is held to be judged.
    /// - Returns: all violations; nil if there is none.
    package func verdict(on head: ResponseHead, body: [UInt8], bodyBuffer: Int) -> ValidationError? {
        var judge = self
        let (violation, need) = judge.judgeHead(head, length: UInt64(body.count))
        guard need != .nothing else { return violation }
        let isHeld = need == .whole && self.streamedCheck(of: head) == nil
        guard !isHeld || body.count <= bodyBuffer else {
            return ValidationError.ordered([violation, Self.unbuffered(head)])
        }
        var held = HeldResponse(head: head, length: UInt64(body.count), need: need)
        held.body = ByteBuffer(bytes: body)
        do throws(ValidationError) {
            try judge.judge(&held, within: .unlimited)
            return violation
        } catch {
            return ValidationError.ordered([violation, error])
        }
    }

    /// The part of the body that must be seen.
    package func need(for head: ResponseHead) -> ResponseContract.BodyNeed {
        // A part of a document is not a document.
        if head.status == 206, self.onViolation == .report { return .nothing }
        var need = ResponseContract.BodyNeed.nothing
        for contract in self.contracts {
            switch contract.bodyNeed(for: head, requestMethod: self.method) {
            case .whole: return .whole
            case .firstByte: need = .firstByte
            case .nothing: break
            }
        }
        return need
    }

    /// A check of the body as it streams, if nothing has to be changed or rejected before its first byte has passed; nil if
    /// the check needs the whole body.
    ///
    /// Ignores violations by the head.
    package func streamedCheck(of head: ResponseHead) -> BodyCheck? {
        guard self.onViolation == .report else { return nil }
        let readers = self.contracts.filter { $0.bodyNeed(for: head, requestMethod: self.method) == .whole }
        guard readers.count == 1 else { return nil }
        var contract = readers[0]
        contract.acceptableStatusCodes = nil
        return BodyCheck(contract, head: head, requestMethod: self.method, unfolding: Self.unfolding)
    }

    /// The number of decoded bytes that each byte of a body may add to the limit for all bodies, if the body is checked while
    /// it streams. Deflate cannot exceed it; more from other codings would only hold up the event loop.
    private static let unfolding = 1000

    /// True if judging may take so long that other clients would notice, so it is not tried on the loop: images are decoded,
    /// and a content coding may decode to any size.
    package func isSlow(_ held: HeldResponse) -> Bool {
        let isLong = held.body.readableBytes > WorkBudget.promptBytes || held.head.fields.contains(.contentEncoding)
        return self.contracts.contains { contract in
            contract.bodyNeed(for: held.head, requestMethod: self.method) == .whole
                && (isLong || contract.body.decodesImages)
        }
    }

    /// Removes fields that describe a body from the head of a response without content, if a contract would replace that body.
    package func removeStaleFields(from head: inout ResponseHead) {
        let replaces = self.contracts.contains { $0.body.replacesBodies }
        guard replaces, head.status == 304 || (self.method == "HEAD" && head.status / 100 == 2) else { return }
        CheckedBody(replacement: []).removeStaleFields(from: &head.fields)
        head.fields.remove(.contentLength)
    }

    /// Judges a whole response by every contract. If a contract replaces the body, changes the bytes and the fields that
    /// describe them.
    ///
    /// - Parameter budget: if it is interrupted, neither result nor error means anything.
    /// - Throws: all violations, in the order status, type, body.
    package func judge(_ held: inout HeldResponse, within budget: WorkBudget) throws(ValidationError) {
        var errors: [ValidationError] = []
        for contract in self.contracts {
            guard budget.reserve(held.body.readableBytes) else { return }
            do throws(ValidationError) {
                let body = Array(held.body.readableBytesView)
                let checked = try contract.validate(
                    head: held.head, body: body, requestMethod: self.method, within: budget)
                guard let replacement = checked.replacement else { continue }
                held.body = ByteBuffer(bytes: replacement)
                held.isReplaced = true
                checked.removeStaleFields(from: &held.head.fields)
            } catch {
                errors.append(error)
            }
        }
        if let error = ValidationError.ordered(errors) { throw error }
    }

    /// The violation by a body that would have to be held whole, and is too long for that.
    package static func unbuffered(_ head: ResponseHead) -> ValidationError {
        ValidationError(
            .bodyTooLarge, "the route must see the whole body, and it is over limits.body_buffer",
            status: head.status, contentType: head.fields[.contentType])
    }

    package static func beyond(_ limit: Int, _ head: ResponseHead) -> ValidationError {
        ValidationError(
            .bodyTooLarge, "the body is longer than the \(limit) bytes that response.max_body allows",
            status: head.status, contentType: head.fields[.contentType])
    }
}

/// A response that is held until it is judged.
package struct HeldResponse: Sendable {
    package var head: ResponseHead
    package var body = ByteBuffer()
    package let length: UInt64?
    package let need: ResponseContract.BodyNeed
    /// The violation by the head, if it is reported together with the verdict on the body.
    package var violation: ValidationError?
    package var trailers = Fields()
    /// True if the body is not the origin's.
    package var isReplaced = false

    package init(
        head: ResponseHead, length: UInt64?, need: ResponseContract.BodyNeed, violation: ValidationError? = nil
    ) {
        self.head = head
        self.length = length
        self.need = need
        self.violation = violation
    }
}

extension ResponseContract.BodyRule {
    /// True if a few kilobytes may decode to millions of pixels.
    fileprivate var decodesImages: Bool {
        switch self {
        case .image: true
        case .compound(let rules): rules.contains(where: \.decodesImages)
        case .any, .json, .xml, .propertyList: false
        }
    }

    /// True if bodies under the rule may be replaced.
    fileprivate var replacesBodies: Bool {
        switch self {
        case .json(let rule): rule.removesNulls
        case .compound(let rules): rules.contains(where: \.replacesBodies)
        case .any, .xml, .propertyList, .image: false
        }
    }
}
