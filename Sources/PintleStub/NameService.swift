// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Answers the questions of a captured network. Nothing is looked up: a name that is allowed has an address of its own, and
/// the proxy looks the name up when a connection to it comes.
package struct NameService: Sendable {
    let names: CapturedNames
    /// True if a name may be used.
    let judge: @Sendable (String) -> Bool
    /// Called with each name that may not.
    let denied: @Sendable (String) -> Void

    package init(
        names: CapturedNames, judge: @escaping @Sendable (String) -> Bool, denied: @escaping @Sendable (String) -> Void
    ) {
        self.names = names
        self.judge = judge
        self.denied = denied
    }

    /// Returns the answer to a message; nil if it gets none.
    package func answer(_ message: some RandomAccessCollection<UInt8>) -> [UInt8]? {
        do throws(DNSQuery.Failure) {
            let query = try DNSQuery(message)
            return self.answer(query).bytes(to: query)
        } catch {
            return DNSAnswer.bytes(to: error)
        }
    }

    func answer(_ query: DNSQuery) -> DNSAnswer {
        guard query.extensions ?? 0 == 0 else { return DNSAnswer(code: .badVersion) }
        guard query.isInternet else { return DNSAnswer(code: .refused) }
        guard let name = query.name else { return DNSAnswer(code: .noSuchName) }
        if let address = ReverseName.address(name) { return self.answer(query, about: address) }
        // RFC 6761 §6.3: such names are this machine's, whatever the policy says.
        if name == "localhost" || name.hasSuffix(".localhost") {
            return self.answer(query, IPAddress(v4: 0x7F00_0001), IPAddress(v6High: 0, low: 1))
        }
        // The proxy reads hosts as authorities. A number that is an address is one without a resolver.
        guard let host = Authority(name, defaultPort: 80)?.host, host == name, IPAddress(host) == nil else {
            return DNSAnswer(code: .noSuchName)
        }
        let asksForAddress = query.type == DNSQuery.RecordType.a || query.type == DNSQuery.RecordType.aaaa
        let subject = asksForAddress ? name : Self.domain(of: name)
        guard self.judge(subject) else {
            self.denied(name)
            return DNSAnswer(code: .noSuchName)
        }
        // There is no data, and no connection to it.
        guard subject == name else { return DNSAnswer(code: .success) }
        guard let addresses = self.names.addresses(of: name) else { return DNSAnswer(code: .failed) }
        return self.answer(query, addresses.v4, addresses.v6)
    }

    /// The domain that has the service of a name (RFC 8552): programs that may connect to `deb.example`, such as apt, first ask for
    /// `_http._tcp.deb.example`. The name itself if it is no service's.
    private static func domain(of name: String) -> String {
        var rest = name[...]
        while rest.first == "_", let point = rest.firstIndex(of: ".") { rest = rest[rest.index(after: point)...] }
        return rest.first == "_" ? name : String(rest)
    }

    private func answer(_ query: DNSQuery, _ v4: IPAddress, _ v6: IPAddress) -> DNSAnswer {
        switch query.type {
        case DNSQuery.RecordType.a: DNSAnswer(code: .success, record: .address(v4))
        case DNSQuery.RecordType.aaaa: DNSAnswer(code: .success, record: .address(v6))
        default: DNSAnswer(code: .success)
        }
    }

    private func answer(_ query: DNSQuery, about address: IPAddress) -> DNSAnswer {
        let name = address.isLoopback ? "localhost" : self.names.name(of: address)
        guard let name else { return DNSAnswer(code: .noSuchName) }
        return DNSAnswer(code: .success, record: query.type == DNSQuery.RecordType.pointer ? .pointer(name) : nil)
    }
}
