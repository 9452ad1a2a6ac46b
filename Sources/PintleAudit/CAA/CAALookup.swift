// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem

/// Looks up the records that a public authority must obey before it certifies a name.
struct CAALookup: Sendable {
    /// A name as a certificate has it.
    struct Subject: Sendable, Hashable {
        /// The name, without `*.`.
        let name: String
        let isWildcard: Bool
    }

    let client: NameServerClient
    /// The time limit for one name, with all names above it.
    let timeLimit: Duration

    /// Returns the names that certificates for the host have: the host's own, or the one that covers it by a wildcard. Those of
    /// the certificates that were shown; the host's own if none was for it. Empty for an address, which has no zone.
    static func subjects(of host: String, certifiedBy names: [[String]]) -> [Subject] {
        guard IPAddress(host) == nil else { return [] }
        let parent = host.split(separator: ".", maxSplits: 1).dropFirst().first.map(String.init)
        var subjects: [Subject] = []
        for names in names {
            let names = names.map { $0.lowercased() }
            var subject: Subject?
            if names.contains(host) {
                subject = Subject(name: host, isWildcard: false)
            } else if let parent, names.contains("*.\(parent)") {
                subject = Subject(name: parent, isWildcard: true)
            }
            if let subject, !subjects.contains(subject) { subjects.append(subject) }
        }
        return subjects.isEmpty ? [Subject(name: host, isWildcard: false)] : subjects
    }

    /// Looks up the records on a thread outside the loops.
    func report(on subject: Subject, _ loop: Loop) async -> CAAReport {
        let unknown = { (reason: String) in
            CAAReport(name: subject.name, isWildcard: subject.isWildcard, failure: reason)
        }
        let promise = loop.makePromise(of: CAAReport.self)
        do throws(SystemError) {
            try ThreadPool.shared.run { promise.succeed(self.climb(from: subject)) }
        } catch {
            promise.succeed(unknown("the system has no thread for it: \(error)"))
        }
        // The promise never fails; only the wait could, by an error of NIO's own.
        return await (try? promise.futureResult.get()) ?? unknown("the lookup was given up")
    }

    /// Asks for the records of the name and then of each name above it, until one has any (RFC 8659 §3).
    func climb(from subject: Subject) -> CAAReport {
        let deadline = ContinuousClock.now + self.timeLimit
        var report = CAAReport(name: subject.name, isWildcard: subject.isWildcard)
        let labels = subject.name.split(separator: ".", omittingEmptySubsequences: false)
        for depth in labels.indices {
            let name = labels[depth...].joined(separator: ".")
            guard let question = CAAQuestion(name: name, id: .random(in: .min ... .max)) else {
                report.failure = "no name server knows a name like \(name)"
                return report
            }
            do throws(NameServerClient.Failure) {
                let records = try self.client.ask(question, until: deadline).records
                guard records.isEmpty else {
                    report.place = name
                    report.records = records
                    return report
                }
            } catch {
                report.failure = "\(name): \(error)"
                return report
            }
        }
        return report
    }
}
