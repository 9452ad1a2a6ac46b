// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleMessage

/// What a transfer keeps of its request when that is on its way: little, because it is asked for every line that
/// arrives.
struct Errand {
    var method = ""
    var scheme = Scheme.http
    var authority = Authority(host: "", port: 0)
    var connectTimeout = TimeAmount.zero
    var timeout = TimeAmount.zero
    var connectOnly = false
    var collectsMetrics = false
    var isRepeatable = true
    var client: TransferClient?
    var limitsWaiting = false
    /// The proxy that it goes by.
    var proxy: ProxyLink?

    /// That of a transfer which has not begun.
    init() {}

    init(_ request: TransferRequest, by proxy: ProxyLink?) {
        self.proxy = proxy
        self.method = request.method
        self.scheme = request.scheme
        self.authority = request.authority
        self.connectTimeout = request.connectTimeout
        self.timeout = request.timeout
        self.connectOnly = request.connectOnly
        self.collectsMetrics = request.collectsMetrics
        self.isRepeatable = request.isRepeatable
        self.client = request.client
        self.limitsWaiting = request.limitsWaiting
    }
}

extension TimeAmount {
    /// `250 ms` or `10 s`.
    package var inWords: String {
        let milliseconds = self.nanoseconds / 1_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
