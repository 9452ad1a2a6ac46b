// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy

/// What a response must keep to: what its route says, then the contract of its operation.
struct ResponseJudge {
    let onViolation: ResponseRules.OnViolation
    /// The longest body that the route takes, in bytes on the wire.
    let maxBody: Int?
    private var contracts: [ResponseContract]
    private let operation: ContractedOperation?
    private let method: String
    /// Whether the operation does not declare such a response: then nothing else is asked.
    private(set) var isUndeclared = false

    /// - Parameter method: of the request.
    init(
        _ contract: ResponseContract?, _ operation: ContractedOperation?, method: String,
        onViolation: ResponseRules.OnViolation, maxBody: Int?
    ) {
        self.contracts = contract.map { [$0] } ?? []
        self.operation = operation
        self.method = method
        self.onViolation = onViolation
        self.maxBody = maxBody
    }

    /// Whether bodies are looked at.
    var readsBody: Bool { self.operation != nil || self.contracts.contains { $0.body.readsBody } }

    /// What the head alone breaks. Asked once, before anything is asked about the body.
    mutating func violation(of head: ResponseHead, length: UInt64?) -> ValidationError? {
        do throws(ValidationError) {
            if let contract = try self.operation?.contract(for: head, to: self.method) {
                self.contracts.append(contract)
            }
        } catch {
            self.isUndeclared = true
            return error
        }
        for contract in self.contracts {
            if let error = contract.validateHead(head, requestMethod: self.method) { return error }
        }
        guard let maxBody, let length, length > maxBody, !head.forbidsBody(to: self.method) else { return nil }
        return Self.beyond(maxBody, head)
    }

    /// How much of the body must be seen.
    func need(for head: ResponseHead) -> ResponseContract.BodyNeed {
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
    func streamedCheck(of head: ResponseHead) -> BodyCheck? {
        guard self.onViolation == .report else { return nil }
        let readers = self.contracts.filter { $0.bodyNeed(for: head, requestMethod: self.method) == .whole }
        guard readers.count == 1 else { return nil }
        var contract = readers[0]
        // Nothing is held, so it may unfold to whatever it wants.
        contract.decodedLimit = .max
        return BodyCheck(contract, head: head, requestMethod: self.method)
    }

    /// Judges a whole response; changes the bytes and what the fields say about them where a contract replaces them.
    func judge(_ held: inout HeldResponse) throws(ValidationError) {
        for contract in self.contracts {
            let body = Array(held.body.readableBytesView)
            let checked = try contract.validate(head: held.head, body: body, requestMethod: self.method)
            guard let replacement = checked.replacement else { continue }
            held.body = ByteBuffer(bytes: replacement)
            checked.removeStaleFields(from: &held.head.fields)
        }
    }

    static func beyond(_ limit: Int, _ head: ResponseHead) -> ValidationError {
        ValidationError(
            .bodyTooLarge, "the body is longer than the \(limit) bytes that response.max_body allows",
            status: head.status, contentType: head.fields[.contentType])
    }
}

/// A response that is kept back until it is judged.
struct HeldResponse {
    var head: ResponseHead
    var body = ByteBuffer()
    let length: UInt64?
    let need: ResponseContract.BodyNeed
    var trailers = Fields()
}
