// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage

/// What a response must keep to: what its route says, then the contract of its operation.
package struct ResponseJudge: Sendable {
    package let onViolation: ResponseRules.OnViolation
    /// The longest body that the route takes, in bytes on the wire.
    package let maxBody: Int?
    private var contracts: [ResponseContract]
    private let operation: ContractedOperation?
    private let method: String
    /// True where the operation does not declare such a response: then nothing else is asked.
    package private(set) var isUndeclared = false

    /// - Parameter method: of the request.
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

    /// True where bodies are looked at.
    private var readsBody: Bool { self.operation != nil || self.contracts.contains { $0.body.readsBody } }

    /// True where only heads are judged, so that what comes behind one may be a stream without end.
    package var judgesHeadsOnly: Bool { !self.readsBody && self.maxBody == nil }

    /// Asks the origin for what can be judged: codings that can be undone and, where a violation is not only reported, the
    /// whole of the representation. Any origin may ignore a Range (RFC 9110 §14.2), so doing without it is legal, too.
    package func prepare(_ fields: inout Fields) {
        guard self.readsBody else { return }
        fields.narrowAcceptEncoding()
        guard self.onViolation != .report else { return }
        fields.remove("Range")
        fields.remove("If-Range")
    }

    /// What the head alone breaks. Asked once, before anything is asked about the body.
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

    /// How much of the body must be seen.
    package func need(for head: ResponseHead) -> ResponseContract.BodyNeed {
        // A part of a document is none itself.
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

    /// What looks at the body as it streams, where nothing has to be changed or rejected before its first byte has passed;
    /// nil where that takes the whole body.
    ///
    /// What the head has violated is not its business.
    package func streamedCheck(of head: ResponseHead) -> BodyCheck? {
        guard self.onViolation == .report else { return nil }
        let readers = self.contracts.filter { $0.bodyNeed(for: head, requestMethod: self.method) == .whole }
        guard readers.count == 1 else { return nil }
        var contract = readers[0]
        contract.acceptableStatusCodes = nil
        return BodyCheck(contract, head: head, requestMethod: self.method, unfolding: Self.unfolding)
    }

    /// How many times longer than on the wire a body may become that is looked at while it streams, beyond the limit for
    /// all bodies. Deflate can do no more; what other codings make beyond it would only hold up the loop.
    private static let unfolding = 1000

    /// Tells whether judging may take so long that other clients would notice, and is not worth a try: images are decoded, and a
    /// content coding may unfold to anything.
    package func isSlow(_ held: HeldResponse) -> Bool {
        let isLong = held.body.readableBytes > WorkBudget.promptBytes || held.head.fields.contains(.contentEncoding)
        return self.contracts.contains { contract in
            contract.bodyNeed(for: held.head, requestMethod: self.method) == .whole
                && (isLong || contract.body.decodesImages)
        }
    }

    /// What the head of a response without content says of the one that would have had it, where that would be replaced.
    package func removeStaleFields(from head: inout ResponseHead) {
        let replaces = self.contracts.contains { $0.body.replacesBodies }
        guard replaces, head.status == 304 || (self.method == "HEAD" && head.status / 100 == 2) else { return }
        CheckedBody(replacement: []).removeStaleFields(from: &head.fields)
        head.fields.remove(.contentLength)
    }

    /// Judges a whole response by every contract; changes the bytes and what the fields say about them where a contract
    /// replaces them.
    ///
    /// - Parameter budget: after an interruption of it neither result nor error means anything.
    /// - Throws: all that is broken, in the order status, type, body.
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

    package static func beyond(_ limit: Int, _ head: ResponseHead) -> ValidationError {
        ValidationError(
            .bodyTooLarge, "the body is longer than the \(limit) bytes that response.max_body allows",
            status: head.status, contentType: head.fields[.contentType])
    }
}

/// A response that is kept back until it is judged.
package struct HeldResponse: Sendable {
    package var head: ResponseHead
    package var body = ByteBuffer()
    package let length: UInt64?
    package let need: ResponseContract.BodyNeed
    /// What the head violates, where that is told only together with the body's verdict.
    package var violation: ValidationError?
    package var trailers = Fields()
    /// True where the body is not the origin's.
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
    /// True where a few kilobytes may be millions of pixels.
    fileprivate var decodesImages: Bool {
        switch self {
        case .image: true
        case .compound(let rules): rules.contains(where: \.decodesImages)
        case .any, .json, .xml, .propertyList: false
        }
    }

    /// True where bodies under the rule may be replaced.
    fileprivate var replacesBodies: Bool {
        switch self {
        case .json(let rule): rule.removesNulls
        case .compound(let rules): rules.contains(where: \.replacesBodies)
        case .any, .xml, .propertyList, .image: false
        }
    }
}
