// SPDX-License-Identifier: Apache-2.0

import PintleCache
import Testing

@Suite struct CacheTableTests {
    static let cases: [CacheCase] = [
        storingCases, freshnessCases, ageCases, reuseCases, directiveCases, conditionCases, validationCases,
        invalidationCases, partCases, poisoningCases, ownerCases,
    ].flatMap(\.self)

    @Test(arguments: Self.cases)
    func `a cache keeps to the rules`(story: CacheCase) { story.run() }

    @Test func `the table has cases for every demand on a shared cache`() {
        let proven = Set(Self.cases.flatMap(\.proves))
        let missing = CacheRequirement.allCases.filter { !proven.contains($0) }
        #expect(missing.map(\.rawValue) == [])
        #expect(Self.cases.count >= 250)
        #expect(Set(Self.cases.map(\.testDescription)).count == Self.cases.count, "two cases have one name")
    }
}
