// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

@Suite struct WorkBudgetTests {
    @Test func `steps end, and stay ended`() {
        let budget = WorkBudget(steps: 10)
        #expect(budget.spend(4) && budget.spend(6))
        #expect(!budget.spend(1))
        #expect(budget.interruption == .steps(10))
        #expect(!budget.spend(0) && !budget.reserve(1) && !budget.inspect())
        #expect(!WorkBudget(steps: 10).spend(.max))
    }

    @Test func `what lies outside of the work is asked once in an interval`() {
        var inspections = 0
        let budget = WorkBudget(
            steps: .max,
            inspect: {
                inspections += 1
                return inspections == 3 ? .cancelled : nil
            })
        for _ in 0..<2 * WorkBudget.interval { #expect(budget.spend(1)) }
        #expect(inspections == 2)
        #expect(!budget.spend(WorkBudget.interval))
        #expect(budget.interruption == .cancelled)
        #expect(inspections == 3)
    }

    @Test func `memory that is not there ends the work`() {
        var left = 100
        let budget = WorkBudget(
            steps: .max,
            reserve: {
                guard $0 <= left else { return false }
                left -= $0
                return true
            })
        #expect(budget.reserve(60) && budget.reserve(40))
        #expect(!budget.reserve(1))
        #expect(budget.interruption == .memory)
    }

    @Test(arguments: [
        (#"{"a":[1,2,{}],"b":"c"}"#, 8), ("a=1&b%5Bc%5D=2&d", 4), ("<a><b/></a>", 3), ("[[],[],[]]", 3),
    ])
    func `no document has more values than its bytes say`(text: String, values: Int) throws {
        let weight = DocumentWeight(of: Array(text.utf8))
        #expect(weight.valueCount >= values)
        #expect(weight.byteCount == text.utf8.count)
        #expect(weight.treeBytes >= values * 64)
    }

    @Test func `a response is given up where its budget ends`() throws {
        let contract = ResponseContract(body: .json(.init(document: CountingRule())))
        let body = Array(("[" + String(repeating: "1,", count: 100_000) + "1]").utf8)
        let head = ResponseHead(status: 200)
        let budget = WorkBudget(steps: 1000)
        #expect(throws: ValidationError.self) {
            try contract.validate(head: head, body: body, requestMethod: "GET", within: budget)
        }
        #expect(budget.interruption == .steps(1000))
        _ = try contract.validate(head: head, body: body, requestMethod: "GET", within: WorkBudget(steps: 10_000_000))
    }

    @Test func `a tree is paid for in memory before it is made`() {
        let contract = ResponseContract(body: .json(.init(document: CountingRule())))
        let body = Array(("[" + String(repeating: "[],", count: 10_000) + "[]]").utf8)
        var asked = 0
        let budget = WorkBudget(
            steps: .max,
            reserve: {
                asked += $0
                return false
            })
        _ = try? contract.validate(head: ResponseHead(status: 200), body: body, requestMethod: "GET", within: budget)
        #expect(budget.interruption == .memory)
        #expect(asked > 20 * body.count)
    }
}

/// Takes every document.
private struct CountingRule: JSONDocumentRule {
    func violations(of document: Parameter) -> [String] { [] }
}
