// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleAdmin
import PintlePolicy
import PintleSystem
import PintleWatch
import Testing

@testable import pintle

/// The pages of the reference, compared with the code that they are about.
struct ReferencePagesTests {
    // MARK: Complete

    @Test func `each page has every name of its kind, and no other`() {
        #expect(ReferencePages.fields.terms == ExchangeField.allCases.map(\.rawValue))
        #expect(
            ReferencePages.events.terms
                == EventName.allCases.map(\.rawValue) + StreamEvent.allCases.map(\.rawValue)
                // The data of an exchange has the fields of a page of its own.
                + StreamEvent.allCases.filter { $0 != .exchange }.flatMap(\.members))
        #expect(
            ReferencePages.problems.terms == Problem.Name.allCases.map(\.rawValue)
                + ViolationKind.allCases.map(\.rawValue))
        #expect(
            ReferencePages.counters.terms
                == CounterName.allCases.map(\.rawValue) + ViolationKind.allCases.map(\.rawValue)
                + MemoryCounterName.allCases.map(\.rawValue) + QuestionCounterName.allCases.map(\.rawValue))
        #expect(ReferencePages.metrics.terms.count == MetricFamily.allCases.count)
        #expect(ReferencePages.filters.terms == FilterOperator.allCases.map { "~\($0.rawValue)" })
        let codes = ReferencePages.exitCodes.terms.compactMap { Int32($0) }
        #expect(Set(codes) == Set(ProcessExit.allCases.map(\.rawValue)))
        #expect(ReferencePages.topics.terms == HelpTopic.allCases.map(\.rawValue).filter { $0 != "topics" })
    }

    @Test(arguments: HelpTopic.allCases)
    func `every entry has a text, and no name is there twice in a section`(topic: HelpTopic) {
        let page = topic.page
        #expect(page.topic == topic && !page.sections.isEmpty)
        for section in page.sections {
            let terms = section.entries.map(\.term)
            #expect(Set(terms).count == terms.count, "\(terms)")
            for entry in section.entries {
                #expect(entry.text.hasSuffix("."), "\(topic.rawValue), \(entry.term): \(entry.text)")
                #expect(entry.facts.allSatisfy { !$0.value.isEmpty }, "\(entry.term)")
            }
        }
    }

    @Test(arguments: HelpTopic.allCases)
    func `the folder docs/reference has the page as the program prints it`(topic: HelpTopic) throws {
        let name = topic == .topics ? "README" : topic.rawValue
        let text = try Repository.text("docs/reference/\(name).md")
        #expect(text == ReferenceFormat.markdown.text(of: topic.page) + "\n", "run scripts/reference")
    }

    @Test func `the folder docs/reference has no page of anything else`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Repository.path("docs/reference"))
        let wanted = HelpTopic.allCases.map { $0 == .topics ? "README.md" : "\($0.rawValue).md" }
        #expect(names.sorted() == wanted.sorted())
    }

    @Test(arguments: HelpTopic.allCases)
    func `pages name documents that exist`(topic: HelpTopic) throws {
        for name in topic.page.more { #expect(throws: Never.self) { try Repository.text("docs/\(name)") } }
    }

    // MARK: Signals

    @Test func `the lists of signals that commands catch are those of the page`() throws {
        let form = /(?:SignalPipe|UnixSignalsSequence)\((?:trapping: )?([\w.]+)\)/
        let caught = try Repository.sources().flatMap { source in source.matches(of: form).map { String($0.1) } }
        #expect(
            caught.sorted()
                == ["ClientRun.signals", "Self.signals", "Self.signals", "Self.signals", "SignalRelay.caught"])
        let shown = ReferencePages.signals.sections.map { $0.entries.map(\.term) }
        func names(_ numbers: [Int32]) -> [String] { numbers.filter { $0 != SIGCHLD }.map(ReferencePages.name) }
        #expect(
            shown == [
                Service.signals.map { "\($0)" }, names(SignalRelay.caught),
                Fetcher.signals.map { "\($0)" }, names(TopWatch.signals), names(ClientRun.signals),
            ])
        #expect(shown.joined().allSatisfy { $0.hasPrefix("SIG") })
    }

    // MARK: The environment

    @Test func `every variable that the code reads is told, and every told one is read`() throws {
        let forms = [
            /[eE]nvironment\[\"(\w+)\"/, /inherited\[\"(\w+)\"/, /getenv\(\"(\w+)\"/, /variable\(\"(\w+)\"/,
        ]
        let sources = try Repository.sources()
        let read = Set(sources.flatMap { source in forms.flatMap { source.matches(of: $0).map { String($0.1) } } })
            .union(UserFolder.allCases.map(\.rawValue))
        #expect(read.count > 15)
        #expect(read.subtracting(ReadVariable.allCases.map(\.rawValue)) == [])
        for name in ReadVariable.allCases.map(\.rawValue) {
            #expect(sources.contains { $0.contains("\"\(name)\"") }, "\(name)")
        }
    }

    @Test func `every variable that programs get is told`() {
        let names = ProxyEnvironment.names(trusting: true)
        #expect(ReferencePages.environment.sections.dropFirst().flatMap { $0.entries.map(\.term) } == names)
    }

    // MARK: Forms

    private static let page = ReferencePage(
        topic: .files, introduction: ["About `a*b` and c*d, <x>."],
        sections: [
            .init(
                title: "One", kind: "name",
                entries: [
                    .init("a|b", [("type", "x, y"), ("default", nil)], "First | second."), .init("c", [], "Third."),
                ]),
            .init(title: "Two", kind: "name", layout: .headings, entries: [.init("d", [("Status", "400")], "Fourth.")]),
        ], more: ["run.md"])

    @Test func `Markdown has tables and headings, in which no sign of a text has a meaning`() {
        #expect(
            ReferenceFormat.markdown.text(of: Self.page) == """
                # Files and folders

                About `a*b` and c\\*d, \\<x>.

                ## One

                | name | type | meaning |
                | --- | --- | --- |
                | `a\\|b` | x, y | First \\| second. |
                | `c` |  | Third. |

                ## Two

                ### `d`

                Fourth.

                - Status: 400

                More: [run.md](../run.md).

                <!-- Written by scripts/reference: change the texts of the program. -->
                """)
    }

    @Test func `text has each name at the margin, and what is said of it below`() {
        #expect(
            ReferenceFormat.text.text(of: Self.page) == """
                FILES AND FOLDERS

                About a*b and c*d, <x>.

                ONE

                a|b
                    type: x, y
                    First | second.

                c
                    Third.

                TWO

                d
                    Fourth.
                    Status: 400

                More: docs/run.md
                """)
        #expect(ReferenceText(Self.page, isEmphasized: true).text.hasPrefix("\u{1B}[1mFILES AND FOLDERS\u{1B}[m\n"))
    }

    @Test func `JSON has the page with all of its facts`() throws {
        let data = Data(ReferenceFormat.json.text(of: Self.page).utf8)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let sections = try #require(object["sections"] as? [[String: Any]])
        let entries = try #require(sections.first?["entries"] as? [[String: Any]])
        #expect(object["topic"] as? String == "files" && sections.count == 2)
        #expect(entries.first?["facts"] as? [String: String] == ["type": "x, y"])
    }
}
