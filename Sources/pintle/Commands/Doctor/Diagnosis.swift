// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

/// The findings about one program.
struct Diagnosis: Sendable {
    /// The fate of a page that the program was to ask for.
    enum Finding: Sendable, Equatable {
        case works
        /// Nothing came to the proxy.
        case pastProxy(String)
        /// The program came, and ended when it was shown the proxy's certificate.
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

        /// The program's own words.
        var reason: String? {
            switch self {
            case .works: nil
            case .pastProxy(let reason), .distrust(let reason), .failed(let reason): reason
            }
        }
    }

    let client: DoctorClient
    /// Its path; nil where it is not installed.
    var program: String?
    var version = "-"
    var http: Finding?
    var https: Finding?

    init(client: DoctorClient) { self.client = client }

    /// True where the program is there and does not work both ways.
    var hasObstacle: Bool { self.program != nil && (self.http != .works || self.https != .works) }

    /// Advice for the program, each once.
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

    /// The first word of a text that looks like a version: `curl 7.88.1 (x86_64…` has 7.88.1.
    static func version(in text: String) -> String {
        let separators: Set<Character> = [" ", "\n", "\t", "\"", "(", ")", ",", "/"]
        let words = text.split { separators.contains($0) }
        let version = words.first { word in
            let digits = word.drop { !$0.isNumber }
            return digits.contains(".") && word.count - digits.count <= 2 && digits.first?.isNumber == true
        }
        return version.map { String($0.drop { !$0.isNumber }.prefix(20)) } ?? "-"
    }

    /// True for the record of a page that came whole.
    static func isAnswer(_ record: ExchangeRecord, isSecure: Bool) -> Bool {
        record.method != "CONNECT" && record.status == 200
            && record.url?.hasPrefix(isSecure ? "https://\(DoctorPages.host)" : "http://\(DoctorPages.host)") == true
    }
}

extension Diagnosis.Finding {
    /// - Parameter records: of what came to the proxy while the program ran.
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

    /// Most programs say what matters in their last line.
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
