// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy

/// A route's rules, made ready to be applied without looking anything up.
final class RouteRules: Sendable {
    let name: String
    let counters: RouteCounters
    let rewriter: RequestRewriter
    let throttle: RequestRules.Throttle?
    let request: RequestRules
    let timeout: TimeAmount
    let connectTimeout: TimeAmount
    let responseHeaders: HeaderRules
    let placeholder: ResponseRules.Placeholder?
    let onViolation: ResponseRules.OnViolation
    let apiContract: APIContract?
    private let contract: ResponseContract?
    private let maxBody: Int?

    init(_ route: Route, counters: RouteCounters, enforcement: Enforcement) {
        let request = route.configuration.request
        let response = route.configuration.response
        self.name = route.name
        self.request = request
        self.counters = counters
        self.rewriter = route.rewriter
        self.throttle = request.throttle
        self.timeout = TimeAmount(request.timeout)
        self.connectTimeout = TimeAmount(request.connectTimeout)
        self.responseHeaders = response.headers
        self.placeholder = response.placeholder
        self.onViolation = response.onViolation(under: enforcement)
        self.apiContract = route.apiContract
        self.contract = route.contract
        self.maxBody = response.maxBody
    }

    /// What judges the response to a request; nil where it may be anything.
    func judge(method: String, operation: ContractedOperation?) -> ResponseJudge? {
        guard self.contract != nil || self.maxBody != nil || operation != nil else { return nil }
        return ResponseJudge(
            self.contract, operation, method: method, onViolation: self.onViolation, maxBody: self.maxBody)
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
