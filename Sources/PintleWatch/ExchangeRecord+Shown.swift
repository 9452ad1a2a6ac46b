// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

extension ExchangeRecord {
    /// The URL for programs that know only URLs: a tunnel is asked for by host and port, and nearly all carry https.
    var shownURL: String {
        let target = self.url ?? ""
        return self.mode == "tunnel" || self.method == "CONNECT" ? "https://\(target)/" : target
    }

    /// The address of the other end without a port and brackets.
    var peerAddress: String? {
        guard let place = self.address else { return nil }
        guard let colon = place.lastIndex(of: ":"), place.hasPrefix("[") || place.count(where: { $0 == ":" }) == 1
        else { return place }
        return place[..<colon].filter { !"[]".contains($0) }
    }
}
