// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
package import PintleMessage
internal import PintleSerialization
internal import PintleSystem

/// Masks secrets in recordings when they are written, and in requests that are compared with them: both have the same form.
///
/// Masked are the fields with credentials (the names and attributes of cookies stay), fields, parameters and members with names
/// of secrets, the places of the rules, secrets of known shapes wherever they stand, and, wherever they are repeated, the
/// texts that were masked because of their places and those that routes put into requests.
package struct TapeRedaction: Sendable, Equatable {
    private let fields: Set<String>
    private let query: Set<String>
    private let form: Set<String>
    private let pointers: [[String]]
    private let injected: [String]

    /// - Parameters:
    ///   - rules: `recordings.redact`.
    ///   - injected: the texts that routes put into requests.
    package init(_ rules: [RedactionRule] = [], injected: [String] = []) {
        (self.fields, self.query, self.form) = (
            Set(rules.compactMap { if case .field(let name) = $0 { name } else { nil } }),
            Set(rules.compactMap { if case .query(let name) = $0 { name } else { nil } }),
            Set(rules.compactMap { if case .form(let name) = $0 { name } else { nil } })
        )
        self.pointers = rules.compactMap { if case .json(let path) = $0 { path } else { nil } }
        self.injected = injected
    }

    /// The texts of one exchange that were masked because of their places.
    package struct Secrets: Sendable {
        fileprivate var texts: [String] = []

        package init() {}

        fileprivate var echoes: BodyRedaction {
            // A request that is masked already has masks in the places of secrets.
            let texts = self.texts.filter { !$0.contains(Redaction.mask) }
            return BodyRedaction(secrets: texts + texts.map { PercentEscaping.escape($0) })
        }
    }

    // MARK: Messages

    /// Returns a request with its secrets masked. The result is the same for a request that is masked already.
    ///
    /// - Parameter secrets: those of the request are added to it, for its response.
    package func masked(_ request: TapeRequest, _ secrets: inout Secrets) -> TapeRequest {
        secrets.texts += self.injected
        var masked = request
        masked.url = self.url(request.url, &secrets.texts)
        masked.fields = self.fields(request.fields, &secrets.texts)
        masked.trailers = self.fields(request.trailers, &secrets.texts)
        masked.body = self.body(request.body, type: request.fields[.contentType], &secrets.texts)
        let echoes = secrets.echoes
        masked.url = Self.text(masked.url, echoes)
        masked.fields = Self.fields(masked.fields, echoes)
        masked.trailers = Self.fields(masked.trailers, echoes)
        masked.body = Self.body(masked.body, type: request.fields[.contentType], echoes)
        return masked
    }

    package func masked(_ request: TapeRequest) -> TapeRequest {
        var secrets = Secrets()
        return self.masked(request, &secrets)
    }

    /// Returns a response with its secrets masked.
    ///
    /// - Parameter secrets: those of its request.
    package func masked(_ response: TapeResponse, _ secrets: Secrets) -> TapeResponse {
        var (masked, secrets) = (response, secrets)
        let type = response.head.fields[.contentType]
        masked.head.fields = self.fields(response.head.fields, &secrets.texts)
        masked.trailers = self.fields(response.trailers, &secrets.texts)
        // Before anything is masked by its repetition, all that is masked by its place has to be known.
        _ = self.body(response.body, type: type, &secrets.texts)
        for message in response.messages ?? [] { _ = self.body(message.bytes, type: message.type, &secrets.texts) }
        let echoes = secrets.echoes
        masked.head.reason = Self.text(self.shapes(masked.head.reason), echoes)
        masked.head.fields = Self.fields(masked.head.fields, echoes)
        masked.trailers = Self.fields(masked.trailers, echoes)
        (masked.body, masked.pieces) = self.pieces(of: response, type: type, echoes)
        masked.messages = response.messages.map { messages in
            messages.map { message in
                var message = message
                message.bytes = self.whole(message.bytes, type: message.type, echoes)
                return message
            }
        }
        if masked.body != response.body { Self.removeDigests(from: &masked.head.fields) }
        return masked
    }

    /// Digests of the content are wrong once it was changed.
    package static func removeDigests(from fields: inout Fields) {
        for name in ["Content-MD5", "Content-Digest", "Repr-Digest", "Digest"] { fields.remove(name) }
    }

    /// Masks the parts of a stream one by one, so that each keeps its time.
    private func pieces(
        of response: TapeResponse, type: String?, _ echoes: BodyRedaction
    ) -> ([UInt8], [TapeResponse.Piece]) {
        guard !response.pieces.isEmpty, !Self.isFramed(response.body, type: type) else {
            return (self.whole(response.body, type: type, echoes), response.pieces)
        }
        var (body, pieces) = ([UInt8](), [TapeResponse.Piece]())
        for (time, range) in StreamParts.parts(of: response, type: type) {
            body += self.whole(Array(response.body[range]), type: type, echoes)
            pieces.append(TapeResponse.Piece(time: time, end: body.count))
        }
        return (body, pieces)
    }

    private func whole(_ bytes: [UInt8], type: String?, _ echoes: BodyRedaction) -> [UInt8] {
        var ignored: [String] = []
        return Self.body(self.body(bytes, type: type, &ignored), type: type, echoes)
    }

    // MARK: Fields

    private static let cookies = ["cookie", "set-cookie"]
    private static let credentials = ["authorization", "proxy-authorization"]
    private static let addresses = ["referer", "location", "content-location"]

    private func fields(_ fields: Fields, _ hidden: inout [String]) -> Fields {
        var masked = Fields()
        for (name, value) in fields.pairs { masked.append(name, self.field(name, value, &hidden)) }
        return masked
    }

    private func field(_ name: String, _ value: String, _ hidden: inout [String]) -> String {
        let key = name.lowercased()
        if Self.cookies.contains(key) { return Self.cookies(value, isSet: key == "set-cookie", &hidden) }
        if Self.credentials.contains(key) {
            let credentials = value.drop { $0 != " " }.dropFirst()
            hidden += [value, String(credentials)]
            if let basic = BasicCredentials(value) { hidden.append(String(decoding: basic.password, as: UTF8.self)) }
            return credentials.isEmpty ? Redaction.mask : "\(value.prefix { $0 != " " }) \(Redaction.mask)"
        }
        if self.fields.contains(key) || JSONRedaction.isSecret(Array(key.utf8)) {
            hidden.append(value)
            return value.isEmpty ? value : Redaction.mask
        }
        return Self.addresses.contains(key) ? self.url(value, &hidden) : self.shapes(value, &hidden)
    }

    /// Masks the values of cookies (RFC 6265 §4.1, §4.2). The attributes of a Set-Cookie stay.
    private static func cookies(_ value: String, isSet: Bool, _ hidden: inout [String]) -> String {
        var isFirst = true
        return value.split(separator: ";", omittingEmptySubsequences: false).map { part in
            defer { isFirst = false }
            guard !isSet || isFirst else { return String(part) }
            guard let equals = part.firstIndex(of: "=") else {
                return part.allSatisfy { $0 == " " } ? String(part) : " \(Redaction.mask)"
            }
            let content = part[part.index(after: equals)...]
            if content.isEmpty { return String(part) }
            hidden.append(String(content))
            return "\(part[...equals])\(Redaction.mask)"
        }.joined(separator: ";")
    }

    // MARK: URLs and forms

    private func url(_ url: String, _ hidden: inout [String]) -> String {
        let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        var masked = self.path(url[..<end], &hidden)
        var rest = url[end...]
        if rest.first == "?" {
            let fragment = rest.firstIndex(of: "#") ?? rest.endIndex
            masked += "?" + self.pairs(rest.dropFirst().prefix(upTo: fragment), self.query, &hidden)
            rest = rest[fragment...]
        }
        guard rest.first == "#" else { return masked }
        // The fragments of redirects have tokens in the form of queries (RFC 6749 §4.2.2).
        return masked + "#" + self.pairs(rest.dropFirst(), self.query, &hidden)
    }

    private func path(_ path: Substring, _ hidden: inout [String]) -> String {
        self.shapes(String(path), &hidden).split(separator: "/", omittingEmptySubsequences: false)
            .map { self.unescaped(String($0), &hidden) }.joined(separator: "/")
    }

    private func pairs(_ text: Substring, _ names: Set<String>, _ hidden: inout [String]) -> String {
        // Bytes: a body of a peer's may be one endless character, which takes quadratic time as text.
        text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { self.pair(Substring($0), names, &hidden) }.joined(separator: "&")
    }

    private func pair(_ pair: Substring, _ names: Set<String>, _ hidden: inout [String]) -> String {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            return self.unescaped(String(pair), &hidden)
        }
        let start = pair.utf8.index(after: equals)
        let (spelled, value) = (String(pair[..<equals]), String(pair[start...]))
        let name = (PercentEscaping.unescape(spelled, plusIsSpace: true) ?? spelled).streamSafe
        guard names.contains(name) || Self.isSecret(parameter: name) else {
            // The name is part of the text, because some keys can be told only by it.
            return self.unescaped(String(pair), &hidden)
        }
        hidden += [value, PercentEscaping.unescape(value, plusIsSpace: true) ?? ""]
        return pair[..<start] + (value.isEmpty ? "" : Redaction.mask)
    }

    private static let signatures = ["sig", "signature", "xamzsignature", "xamzcredential", "xgoogsignature"]

    private static func isSecret(parameter name: String) -> Bool {
        JSONRedaction.isSecret(Array(name.utf8))
            || self.signatures.contains(name.lowercased().filter { !"_-".contains($0) })
    }

    /// Masks the secrets of a text in a URL or a form, also those that only its decoded form shows.
    private func unescaped(_ text: String, _ hidden: inout [String]) -> String {
        let masked = self.shapes(text, &hidden)
        guard masked.utf8.contains(UInt8(ascii: "%")) || masked.utf8.contains(UInt8(ascii: "+")),
            let plain = PercentEscaping.unescape(masked, plusIsSpace: true), !plain.utf8.elementsEqual(masked.utf8)
        else { return masked }
        var found: [String] = []
        let plainMasked = self.shapes(plain, &found)
        guard !found.isEmpty else { return masked }
        hidden += found
        return PercentEscaping.escape(plainMasked).replacing("%2A", with: "*").replacing(
            "%3D", with: "=", maxReplacements: 1)
    }

    // MARK: Bodies

    /// True if the body has lengths within, which have to stay true.
    private static func isFramed(_ bytes: [UInt8], type: String?) -> Bool {
        let essence = type.map(MediaType.essence) ?? ""
        if essence.hasPrefix("application/grpc") || essence.hasSuffix("protobuf") { return true }
        return !essence.hasPrefix("multipart/") && String(validating: bytes, as: UTF8.self) == nil
    }

    private func body(_ bytes: [UInt8], type: String?, _ hidden: inout [String]) -> [UInt8] {
        if bytes.isEmpty { return bytes }
        if Self.isFramed(bytes, type: type) { return SecretShapes.masked(bytes, keepsLength: true, &hidden) }
        let shaped: [UInt8]
        switch type.map(MediaType.essence) {
        case "application/x-www-form-urlencoded":
            shaped = Array(self.pairs(String(decoding: bytes, as: UTF8.self)[...], self.form, &hidden).utf8)
        case "multipart/form-data": shaped = self.multipart(bytes, &hidden)
        case "text/html", "text/css", "text/javascript", "application/javascript": shaped = bytes
        default: shaped = JSONRedaction.masked(self.members(bytes, &hidden), keepsEmpty: true, &hidden)
        }
        return SecretShapes.masked(shaped, &hidden)
    }

    /// Masks the values to which the rules' pointers lead.
    private func members(_ bytes: [UInt8], _ hidden: inout [String]) -> [UInt8] {
        var (result, index) = ([UInt8](), 0)
        for place in JSONPlaces.find(self.pointers, in: bytes) {
            hidden.append(String(decoding: bytes[place].filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self))
            result += bytes[index..<place.lowerBound] + Array("\"\(Redaction.mask)\"".utf8)
            index = place.upperBound
        }
        return index == 0 ? bytes : result + bytes[index...]
    }

    private func multipart(_ bytes: [UInt8], _ hidden: inout [String]) -> [UInt8] {
        let names = self.form
        let found = MultipartRedaction.masked(bytes) { name in
            names.contains(name) || Self.isSecret(parameter: name)
        }
        hidden += found.hidden
        return found.bytes
    }

    // MARK: Texts

    private func shapes(_ text: String) -> String {
        var ignored: [String] = []
        return self.shapes(text, &ignored)
    }

    private func shapes(_ text: String, _ hidden: inout [String]) -> String {
        String(decoding: SecretShapes.masked(Array(text.utf8), &hidden), as: UTF8.self)
    }

    private static func text(_ text: String, _ echoes: BodyRedaction) -> String {
        String(decoding: echoes.maskedSecrets(Array(text.utf8), isCut: false), as: UTF8.self)
    }

    private static func fields(_ fields: Fields, _ echoes: BodyRedaction) -> Fields {
        var masked = Fields()
        for (name, value) in fields.pairs { masked.append(name, self.text(value, echoes)) }
        return masked
    }

    private static func body(_ bytes: [UInt8], type: String?, _ echoes: BodyRedaction) -> [UInt8] {
        echoes.maskedSecrets(bytes, isCut: false, keepsLength: self.isFramed(bytes, type: type))
    }
}

extension TapeMessage {
    fileprivate var type: String? { self.kind == .text ? nil : "application/octet-stream" }
}
