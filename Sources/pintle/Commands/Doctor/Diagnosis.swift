// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

/// The results for one program.
struct Diagnosis: Sendable {
    /// The result of a request that the program was to make.
    enum Finding: Sendable, Equatable {
        case works
        /// The proxy received no request.
        case pastProxy(String)
        /// The program reached the proxy, and ended after the proxy presented its certificate.
        case distrust(String)
        case failed(String)

        var words: String {
            switch self {
            case .works: "works"
            case .pastProxy: "past the proxy"
            case .distrust: "no trust"
            case .failed: "fails"
            }
        }

        /// The program's own words about the failure.
        var reason: String? {
            switch self {
            case .works: nil
            case .pastProxy(let reason), .distrust(let reason), .failed(let reason): reason
            }
        }
    }

    let client: DoctorClient
    /// The program's path; nil if it is not installed.
    var program: String?
    var version = "-"
    var http: Finding?
    var https: Finding?

    init(client: DoctorClient) { self.client = client }

    /// True if the program is installed and does not work both ways.
    var hasObstacle: Bool { self.program != nil && (self.http != .works || self.https != .works) }

    /// Advice for the program; each piece once.
    var advice: [String] {
        var advice: [String] = []
        for finding in [self.http, self.https].compactMap({ $0 }) {
            let next: String? =
                switch finding {
                case .works, .failed: nil
                case .pastProxy: self.client.towardsProxy
                case .distrust: self.client.towardsTrust
                }
            if let next, !advice.contains(next) { advice.append(next) }
        }
        return advice
    }

    /// Returns the first word that looks like a version: 7.88.1 in `curl 7.88.1 (x86_64…`.
    static func version(in text: String) -> String {
        let separators: Set<Character> = [" ", "\n", "\t", "\"", "(", ")", ",", "/"]
        let words = text.split { separators.contains($0) }
        let version = words.first { word in
            let digits = word.drop { !$0.isNumber }
            return digits.contains(".") && word.count - digits.count <= 2 && digits.first?.isNumber == true
        }
        return version.map { String($0.drop { !$0.isNumber }.prefix(20)) } ?? "-"
    }

    /// True for the record of a page that was delivered whole.
    static func isAnswer(_ record: ExchangeRecord, isSecure: Bool) -> Bool {
        record.method != "CONNECT" && record.status == 200
            && record.url?.hasPrefix(isSecure ? "https://\(DoctorPages.host)" : "http://\(DoctorPages.host)") == true
    }
}

extension Diagnosis.Finding {
    /// - Parameter records: the requests that the proxy received while the program ran.
    init(_ ended: ClientRun.Ended, _ records: [ExchangeRecord], of client: DoctorClient, isSecure: Bool) {
        let answered = records.contains { Diagnosis.isAnswer($0, isSecure: isSecure) }
        if ended.isSuccess, answered {
            self = .works
            return
        }
        let reason = Self.reason(ended)
        let own = records.filter { $0.host?.hasPrefix(DoctorPages.host) == true }
        if own.isEmpty {
            self = .pastProxy(reason)
        } else if isSecure, own.allSatisfy({ $0.method == "CONNECT" }) {
            self = .distrust(reason)
        } else {
            self = .failed(reason)
        }
    }

    /// Returns the program's end and its most telling line of output: the last one with an error, or else the last one.
    private static func reason(_ ended: ClientRun.Ended) -> String {
        let lines = ended.output.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
        let line = lines.last { $0.contains("rror") } ?? lines.last
        let end =
            switch ended.end {
            case .exited(0)?: "it ended well"
            case .exited(let code)?: "it ended with \(code)"
            case .killed(let signal)?: "it died of signal \(signal)"
            case nil: "it did not end within \(ClientRun.patience.components.seconds) s"
            }
        return line.map { "\(end): \($0.prefix(300))" } ?? end
    }
}
