// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleFuzzing
internal import PintleMessage

/// Fuzzes all rules of the cache with stored responses as read from a disk, and the fields of a request, a response and a
/// validation, one a line, with zero bytes between the messages.
///
/// The first byte chooses the form, the status and the mode.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCache(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    if selector == 1 {
        checkForm(bytes)
        return 0
    }
    let sections = bytes.dropFirst().split(separator: UInt8(ascii: "\0"), omittingEmptySubsequences: false)
        .map { fields(Array($0)) }
    let statuses: [UInt16] = [200, 206, 404, 304]
    let request = RequestHead(
        method: selector & 2 == 0 ? "GET" : "HEAD", target: .origin(path: "/"), fields: sections.first ?? Fields())
    let response = ResponseHead(
        status: statuses[Int(selector >> 2 & 3)], fields: sections.count > 1 ? sections[1] : Fields())
    let later = ResponseHead(status: response.status == 206 ? 206 : 304, fields: sections.last ?? Fields())
    let mode = CacheMode.allCases[Int(selector >> 4 & 3)]
    var rules = CacheRules()
    rules.isShared = selector & 64 == 0
    check(rules, request, response, later, mode)
    return 0
}

private func checkForm(_ bytes: [UInt8]) {
    guard let stored = StoredResponse(decoding: bytes) else { return }
    hold(stored.encoded() == bytes, "one stored response has one form")
    check(CacheRules(), stored, RequestHead(method: "GET", target: .origin(path: "/"), fields: ["Range": "bytes=5-"]))
}

private func check(
    _ rules: CacheRules, _ request: RequestHead, _ response: ResponseHead, _ later: ResponseHead, _ mode: CacheMode
) {
    let times = ExchangeTimes(request: CacheTime(seconds: 1_767_225_600), response: CacheTime(seconds: 1_767_225_601))
    let storability = rules.storability(of: response, to: request, mode: mode)
    _ = rules.decision(for: request, among: [] as [StoredResponse], mode: mode, now: times.response)
    if let key = CacheKey(
        partition: "", scheme: .http, authority: Authority(host: "h", port: 80), path: "/")
    {
        let written = RequestHead(method: "POST", target: request.target, fields: request.fields)
        let urls = rules.invalidated(by: written, key: key, response: response)
        hold(urls.allSatisfy { $0.hasPrefix("http://h/") }, "nothing of another origin becomes invalid")
    }
    guard storability == .store, let stored = rules.stored(response, to: request, at: times, length: 100) else {
        return
    }
    hold(StoredResponse(decoding: stored.encoded()) == stored, "what is stored is read again")
    hold(!stored.head.fields.contains(.setCookie), "no cookie is stored")
    check(rules, stored, request)
    checkPassing(rules, stored, request, [response, later], times, mode)
    var updates = [
        rules.freshened(stored, by: later, to: request, at: times, mode: mode),
        rules.combined(stored, with: later, to: request, at: times, mode: mode),
    ]
    var head = request
    head.method = "HEAD"
    updates.append(
        rules.compared(
            stored, withHead: ResponseHead(status: 200, fields: later.fields), to: head, at: times, mode: mode))
    for case .store(let updated) in updates {
        hold(StoredResponse(decoding: updated.encoded()) == updated, "what is updated is read again")
        check(rules, updated, request)
    }
}

/// Checks the updates that follow from answers that bypass the cache.
private func checkPassing(
    _ rules: CacheRules, _ stored: StoredResponse, _ request: RequestHead, _ answers: [ResponseHead],
    _ times: ExchangeTimes, _ mode: CacheMode
) {
    for answer in answers {
        for (place, update) in rules.updates(of: [stored], by: answer, to: request, at: times, mode: mode) {
            hold(place == 0 && update != .unrelated, "an update is about what is stored")
            guard case .store(let updated) = update else { continue }
            hold(StoredResponse(decoding: updated.encoded()) == updated, "what passes by updates what is read again")
        }
        let parts = [
            PartialResponse(answer, to: request), PartialResponse(answer, to: request, received: 40, of: 100),
        ]
        for case let part? in parts {
            guard let joined = rules.joined(part, with: [stored], at: times, mode: mode) else { continue }
            let held = joined.response.range ?? 0..<joined.response.length
            hold(
                held.lowerBound <= part.range.lowerBound && part.range.upperBound <= held.upperBound
                    && held.upperBound <= joined.response.length, "a part is within what it was joined to")
            hold(!joined.response.head.fields.contains(.setCookie), "no cookie is stored with a part")
        }
    }
}

/// Checks the answers of a stored response, now and when it is old.
private func check(_ rules: CacheRules, _ stored: StoredResponse, _ request: RequestHead) {
    _ = rules.staleAnswer(to: request, from: stored, after: .unreachable, now: stored.responseTime + 1000)
    let age = stored.age(at: stored.responseTime + 1000)
    hold((0...CacheTime.longest).contains(age), "an age is in its bounds")
    hold((0...CacheTime.longest).contains(rules.lifetime(of: stored)), "a lifetime is in its bounds")
    let decision = rules.decision(for: request, among: [stored], now: stored.responseTime)
    if case .answer = decision {
        hold(rules.answer(to: request, from: stored, age: 0) != nil, "what answers has the content")
    }
    guard let answer = rules.answer(to: request, from: stored, age: age), let body = answer.body else { return }
    let held = stored.range ?? 0..<stored.length
    hold(
        body.isEmpty || held.lowerBound <= body.lowerBound && body.upperBound <= held.upperBound,
        "no byte is sent that is not held")
    hold(answer.contentLength == body.upperBound - body.lowerBound, "the length is that of the body")
}

/// Field lines; invalid ones are skipped, since no parser of heads accepts them.
private func fields(_ bytes: [UInt8]) -> Fields {
    var fields = Fields()
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
        let (name, value) = Array(line).split(at: UInt8(ascii: ":"))
        let trimmed = Array(ASCII.trimmed(value[...]))
        guard ASCII.isToken(name), trimmed.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else { continue }
        name.withUnsafeBytes { name in trimmed.withUnsafeBytes { fields.append(name: name, value: $0) } }
    }
    return fields
}
