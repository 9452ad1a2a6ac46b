// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import Testing

@testable import pintle

/// The doctor's verdicts.
struct DiagnosisTests {
    @Test(arguments: [
        ("curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1", "7.88.1"),
        ("GNU Wget 1.21.3 built on linux-gnu.", "1.21.3"),
        ("git version 2.39.5\n", "2.39.5"),
        ("pip 23.0.1 from /usr/lib/python3/dist-packages/pip (python 3.11)", "23.0.1"),
        ("v20.20.2\n", "20.20.2"), ("openjdk version \"17.0.15\" 2025-04-15", "17.0.15"),
        ("go version go1.27.3 linux/amd64", "1.27.3"), ("apt 2.6.1 (amd64)", "2.6.1"),
        ("Chromium 156.0.8078.79 built on Debian", "156.0.8078.79"), ("no number", "-"), ("", "-"), ("1", "-"),
        ("\u{1B}[31m", "-"),
    ])
    func `a version is found in what a program says`(text: String, version: String) {
        #expect(Diagnosis.version(in: text) == version)
    }

    @Test func `the records say how far a program came`() throws {
        let client = try #require(DoctorClient.all.first)
        let well = ClientRun.Ended(end: .exited(0), output: "")
        let badly = ClientRun.Ended(end: .exited(60), output: "a\ncurl: (60) an error\nthat is all\n")
        let answer = self.record("GET", "https://pintle.test/page", status: 200)
        let tunnel = self.record("CONNECT", "pintle.test:443", status: 200)
        let finding = { (ended: ClientRun.Ended, records: [ExchangeRecord]) in
            Diagnosis.Finding(ended, records, of: client, isSecure: true)
        }
        #expect(finding(well, [tunnel, answer]) == .works)
        #expect(finding(badly, [tunnel]) == .distrust("it ended with 60: curl: (60) an error"))
        #expect(finding(badly, [tunnel, answer]) == .failed("it ended with 60: curl: (60) an error"))
        #expect(finding(badly, []) == .pastProxy("it ended with 60: curl: (60) an error"))
        #expect(finding(well, []) == .pastProxy("it ended well"), "a page of elsewhere is none of ours")
        #expect(finding(well, [self.record("GET", "http://pintle.test/page", status: 200)]) == .failed("it ended well"))
        #expect(
            finding(ClientRun.Ended(end: nil, output: ""), [tunnel]) == .distrust("it did not end within 30 s"))
        #expect(
            finding(ClientRun.Ended(end: .killed(signal: 11), output: ""), []) == .pastProxy("it died of signal 11"))
    }

    @Test func `advice is given once, and for what does not work alone`() throws {
        var diagnosis = Diagnosis(client: try #require(DoctorClient.all.first))
        #expect(!diagnosis.hasObstacle, "what is not installed is no obstacle")
        diagnosis.program = "/usr/bin/curl"
        (diagnosis.http, diagnosis.https) = (.works, .works)
        #expect(!diagnosis.hasObstacle && diagnosis.advice.isEmpty)
        (diagnosis.http, diagnosis.https) = (.pastProxy(""), .pastProxy(""))
        #expect(diagnosis.hasObstacle && diagnosis.advice == [diagnosis.client.towardsProxy])
        diagnosis.https = .distrust("")
        #expect(diagnosis.advice == [diagnosis.client.towardsProxy, diagnosis.client.towardsTrust])
    }

    @Test func `every program has a name of its own, and reads something`() {
        let names = DoctorClient.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(DoctorClient.all.allSatisfy { !$0.reads.proxy.isEmpty && !$0.programs.isEmpty })
    }

    private func record(_ method: String, _ url: String, status: Int) -> ExchangeRecord {
        var record = ExchangeRecord(time: .now(), id: "1")
        (record.method, record.url, record.status, record.host) = (method, url, status, "pintle.test:443")
        return record
    }
}
