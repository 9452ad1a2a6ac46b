// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// Makes one response of an operation.
struct AnswerMaker {
    /// A declared response, and the status that it gets.
    private struct Candidate {
        let status: UInt16
        let response: OpenAPIResponse
    }

    /// A body, with the words for the note.
    struct Body {
        var type: String?
        var bytes: [UInt8] = []
        var notes: [String] = []
    }

    /// The most choices that a note lists.
    private static let noteLimit = 12

    let operation: OpenAPIOperation
    let kind: SchemaSample.Kind
    let onlyExamples: Bool
    let preferences: AnswerPreferences
    var choices: SeededChoices
    let budget: WorkBudget

    /// Makes the response; nil if there is none.
    mutating func answer() -> OpenAPIAnswer? {
        for candidate in self.candidates() {
            if let answer = self.answer(candidate) { return answer }
            // Only the response that the kind names is an answer, not any that can be made.
            if self.kind == .ordinary, !self.onlyExamples || self.preferences.example == nil { return nil }
        }
        return self.kind == .broken ? self.undeclaredStatus() : nil
    }

    // MARK: Status

    /// The responses that may be made, the best first.
    private mutating func candidates() -> [Candidate] {
        if let status = self.preferences.status {
            let ranges: [OpenAPIOperation.StatusRange] = [.exact(status), .hundred(status / 100), .other]
            let declared = ranges.compactMap { range in self.operation.responses.first { $0.range == range } }
                .first
            guard (200...599).contains(status), let declared else { return [] }
            return [Candidate(status: status, response: declared.response)]
        }
        let all = self.operation.responses.compactMap { range, response in
            self.status(for: range).map { (isFallback: range == .other, Candidate(status: $0, response: response)) }
        }
        let successes = all.filter { !$0.isFallback && $0.1.status / 100 == 2 }.map(\.1)
        let fallbacks = all.filter(\.isFallback).map(\.1)
        let others = all.filter { !$0.isFallback && $0.1.status / 100 != 2 }.map(\.1)
        switch self.kind {
        case .ordinary: return successes + fallbacks + others
        case .legal, .broken:
            let rest = self.choices.shuffled(fallbacks + others)
            let first = self.choices.rotated(successes)
            return self.choices.isOne(in: 4) ? rest + first : first + rest
        }
    }

    /// A status of the range; nil for the interim responses, which are no answers.
    private mutating func status(for range: OpenAPIOperation.StatusRange) -> UInt16? {
        switch range {
        case .exact(let status): return status >= 200 ? status : nil
        case .hundred(let digit): return digit >= 2 ? digit * 100 : nil
        case .other:
            // If a success is declared, the others are failures.
            let hasSuccess = self.operation.responses.contains { $0.range.isSuccess }
            let statuses: [UInt16] = hasSuccess ? [500, 400, 404, 429, 503] : [200, 500]
            let free = statuses.filter { status in
                !self.operation.responses.contains { $0.range == .exact(status) || $0.range == .hundred(status / 100) }
            }
            return self.kind == .legal ? self.choices.pick(free) : free.first
        }
    }

    // MARK: One response

    private mutating func answer(_ candidate: Candidate) -> OpenAPIAnswer? {
        let content = candidate.response.content
        let isEmpty = ResponseHead(status: candidate.status).forbidsBody(to: "GET")
        if self.kind == .broken { return isEmpty ? nil : self.broken(candidate, content) }
        if isEmpty || content.types.isEmpty {
            return self.preferences.example == nil ? self.answer(candidate, Body()) : nil
        }
        for media in self.mediaTypes(of: content) {
            guard let body = self.body(media.type, media.description) else { continue }
            return self.answer(candidate, body)
        }
        return nil
    }

    private mutating func answer(_ candidate: Candidate, _ body: Body) -> OpenAPIAnswer {
        self.answer(candidate.status, candidate.response.fields, body)
    }

    mutating func answer(_ status: UInt16, _ declared: [OpenAPIResponse.Field], _ body: Body) -> OpenAPIAnswer {
        var head = ResponseHead(status: status)
        if let type = body.type { head.fields.append("Content-Type", type) }
        for field in declared where field.isRequired && FieldSyntax.isName(field.name) {
            if let value = self.value(of: field) { head.fields.append(field.name, value) }
        }
        var note = "\(status)" + (body.type.map { " \($0)" } ?? " without a body")
        if !body.notes.isEmpty {
            let more = body.notes.count - Self.noteLimit
            note += ": " + body.notes.prefix(Self.noteLimit).joined(separator: "; ")
            if more > 0 { note += "; and \(more) more" }
        }
        return OpenAPIAnswer(head: head, body: body.bytes, note: note)
    }

    /// The declared media types with a type that a message can have, the most welcome first.
    private func mediaTypes(of content: OpenAPIContent) -> [(type: MediaRange, description: OpenAPIMediaType)] {
        let known = content.types.enumerated().compactMap { index, description in
            description.range.concrete.map { (index: index, type: $0, description: description) }
        }
        let welcome = known.filter { self.preferences.quality(of: $0.type) > 0 }
        let sorted = (welcome.isEmpty ? known : welcome).sorted { left, right in
            let qualities =
                welcome.isEmpty
                ? (1, 1) : (self.preferences.quality(of: left.type), self.preferences.quality(of: right.type))
            if qualities.0 != qualities.1 { return qualities.0 > qualities.1 }
            if left.type.isJSON != right.type.isJSON { return left.type.isJSON }
            return left.index < right.index
        }
        return sorted.map { ($0.type, $0.description) }
    }

    // MARK: Bodies

    private mutating func body(_ type: MediaRange, _ description: OpenAPIMediaType) -> Body? {
        if self.kind != .legal || self.preferences.example != nil, let body = self.example(type, description) {
            return body
        }
        guard !self.onlyExamples, self.preferences.example == nil else { return nil }
        guard type.isJSON else { return self.plain(type, description) }
        // A schema that is missing allows everything.
        guard let number = description.schema else { return Body(type: type.text, bytes: Array("{}".utf8)) }
        let sample = self.schema(number).sample(
            self.kind, seed: self.choices.next(), leavesOutWriteOnly: true,
            within: self.budget)
        return sample.map { Body(type: type.text, bytes: $0.bytes, notes: $0.notes) }
    }

    /// An example of a media type. One that breaks the schema is the last resort, and only if nothing may be generated: the
    /// contract then says which example is wrong.
    private mutating func example(_ type: MediaRange, _ description: OpenAPIMediaType) -> Body? {
        let schema = type.isJSON ? description.schema.map(self.schema) : nil
        var examples = self.choices.rotated(description.examples)
        if let name = self.preferences.example {
            examples = description.examples.filter { example in
                example.name.map { ExactName.areEqual($0, name) } ?? false
            }
        } else if let schema {
            let valid = examples.filter { schema.validate($0.value, within: self.budget).isEmpty }
            examples = valid.isEmpty && self.onlyExamples ? examples : valid
        }
        if examples.isEmpty, self.onlyExamples, self.preferences.example == nil, let number = description.schema {
            // A schema's own example is as good as that of the media type.
            examples = self.schemaExample(number).map { [(nil, $0)] } ?? []
        }
        guard let example = examples.first, self.budget.interruption == nil else { return nil }
        let note = example.name.map { "the example \(Wording.quoted($0))" } ?? "the example"
        if !type.isJSON, case .string(let text) = example.value {
            return Body(type: type.text, bytes: Array(text.utf8), notes: [note])
        }
        guard type.isJSON, let bytes = try? JSONWriter.write(example.value, options: .fragmentsAllowed) else {
            return nil
        }
        return Body(type: type.text, bytes: bytes, notes: [note])
    }

    /// The first valid example of a schema, or of those that it refers to.
    private func schemaExample(_ number: Int) -> Parameter? {
        let graph = self.operation.graph
        var number = number
        for _ in 0..<8 {
            for example in graph.annotations[number]?.examples ?? [] {
                if self.schema(number).validate(example, within: self.budget).isEmpty { return example }
            }
            guard case .applicator(.reference(let target))? = graph.nodes[number].keywords.first else { return nil }
            number = target
        }
        return nil
    }

    /// A body that is not JSON: text if the schema is about text, else nothing.
    private mutating func plain(_ type: MediaRange, _ description: OpenAPIMediaType) -> Body? {
        guard type.text.hasPrefix("text/"), type.text != "text/event-stream", let number = description.schema,
            let sample = self.schema(number).sample(.ordinary, seed: self.choices.next(), within: self.budget),
            case .string(let text) = sample.value
        else { return Body(type: type.text) }
        return Body(type: type.text, bytes: Array(text.utf8))
    }

    /// The value of a required field: its example, else one for its schema, in the style `simple`.
    private mutating func value(of field: OpenAPIResponse.Field) -> String? {
        var value = field.example
        if value == nil, let number = field.schema {
            value = self.schema(number).sample(.ordinary, seed: self.choices.next(), within: self.budget)?.value
        }
        let text: String
        switch value ?? "value" {
        case .array(let items): text = items.map(Self.text).joined(separator: ",")
        case .dictionary(let entries): text = entries.map { "\($0.key),\(Self.text($0.value))" }.joined(separator: ",")
        case let scalar: text = Self.text(scalar)
        }
        return FieldSyntax.isValue(text) ? text : nil
    }

    private static func text(_ value: Parameter) -> String {
        if case .string(let text) = value { return text }
        return (try? JSONWriter.write(value, options: .fragmentsAllowed)).map { String(decoding: $0, as: UTF8.self) }
            ?? ""
    }

    private func schema(_ number: Int) -> JSONSchema {
        JSONSchema(graph: self.operation.graph, root: number, options: self.operation.options)
    }

    // MARK: Broken responses

    private mutating func broken(_ candidate: Candidate, _ content: OpenAPIContent) -> OpenAPIAnswer? {
        let fields = candidate.response.fields
        let type = self.choices.isOne(in: 4) ? self.undeclaredType(content) : nil
        if let type { return self.answer(candidate.status, fields, type) }
        for media in self.mediaTypes(of: content) where media.type.isJSON {
            guard let number = media.description.schema else { continue }
            let sample = self.schema(number).sample(
                .broken, seed: self.choices.next(), leavesOutWriteOnly: true, within: self.budget)
            if let sample {
                let body = Body(type: media.type.text, bytes: sample.bytes, notes: sample.notes)
                return self.answer(candidate.status, fields, body)
            }
            guard self.budget.interruption == nil else { return nil }
            let body = Body(
                type: media.type.text, bytes: Array(#"{"items":["#.utf8), notes: ["the document ends too early"])
            return self.answer(candidate.status, fields, body)
        }
        return self.undeclaredType(content).map { self.answer(candidate.status, fields, $0) }
    }

    /// A body with a media type that is not declared; nil if all are, or if no body is.
    private mutating func undeclaredType(_ content: OpenAPIContent) -> Body? {
        let types = ["text/html", "text/plain", "application/xml", "application/octet-stream"]
        for type in self.choices.rotated(types) {
            guard case .undeclaredType = content.rule(for: type, of: self.operation.name, schema: self.schema) else {
                continue
            }
            let bytes = Array("<!doctype html><title>Not as declared</title>\n".utf8)
            return Body(type: type, bytes: bytes, notes: ["the media type is not declared"])
        }
        return nil
    }

    /// A response with a status that is not declared; nil if all are.
    private mutating func undeclaredStatus() -> OpenAPIAnswer? {
        guard self.preferences.status == nil else { return nil }
        for status in self.choices.rotated([500, 503, 404, 418, 202] as [UInt16]) {
            guard case .undeclaredStatus = self.operation.responseRule(status: status, contentType: nil) else {
                continue
            }
            return self.answer(status, [], Body(notes: ["the status is not declared"]))
        }
        return nil
    }
}

extension OpenAPIOperation.StatusRange {
    /// True if the statuses are those of successes.
    fileprivate var isSuccess: Bool {
        switch self {
        case .exact(let status): status / 100 == 2
        case .hundred(let digit): digit == 2
        case .other: false
        }
    }
}

extension MediaRange {
    /// A type of the range that a message can have; nil if none is known.
    fileprivate var concrete: MediaRange? {
        guard self.text.hasSuffix("/*") else { return self }
        switch self.text {
        case "*/*", "application/*": return MediaRange("application/json")
        case "text/*": return MediaRange("text/plain")
        case "image/*": return MediaRange("image/png")
        case "audio/*": return MediaRange("audio/mpeg")
        case "video/*": return MediaRange("video/mp4")
        default: return nil
        }
    }
}
