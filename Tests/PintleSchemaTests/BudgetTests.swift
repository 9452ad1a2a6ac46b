// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import Testing

@Suite struct BudgetTests {
    @Test func `LOOK-06 a schema whose branches branch again ends with the budget of the message`() throws {
        let schema = try schema(
            ##"{"anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}],"not":{"const":"never"}}"##)
        let deep = String(repeating: "[", count: 60) + #""never""# + String(repeating: "]", count: 60)
        let budget = WorkBudget(steps: 50_000)
        _ = schema.validate(try json(deep), within: budget)
        #expect(budget.interruption == .steps(50_000))
    }

    @Test func `LOOK-06 many values do not make many steps where the message may have few`() throws {
        let schema = try schema(#"{"items":{"anyOf":[{"type":"string"},{"type":"null"},{"type":"integer"}]}}"#)
        let items = Parameter.array([Parameter](repeating: 1, count: 100_000))
        let budget = WorkBudget(steps: 20_000)
        _ = schema.validate(items, within: budget)
        #expect(budget.interruption == .steps(20_000))
        #expect(schema.validate(items, within: WorkBudget(steps: 4_000_000)) == [])
    }

    @Test func `a schema is given up as soon as nobody waits for it`() throws {
        let schema = try schema(#"{"items":{"type":"integer"}}"#)
        var inspections = 0
        let budget = WorkBudget(
            steps: .max,
            inspect: {
                inspections += 1
                return inspections == 5 ? .cancelled : nil
            })
        _ = schema.validate(.array([Parameter](repeating: 1, count: 100_000)), within: budget)
        #expect(budget.interruption == .cancelled)
        #expect(inspections == 5)
    }

    @Test func `the steps of several values come out of one budget`() throws {
        let schema = try schema(#"{"items":{"type":"integer"}}"#)
        let items = Parameter.array([Parameter](repeating: 1, count: 1_000))
        let budget = WorkBudget(steps: 100_000)
        var count = 0
        while budget.interruption == nil {
            _ = schema.validate(items, within: budget)
            count += 1
        }
        #expect((5...60).contains(count))
    }
}
