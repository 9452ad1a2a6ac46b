// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// One walk over a value, without recursion, before the value is judged. It finds faults that no schema can judge.
struct InstanceSurvey {
    /// The reason why a value cannot be judged, and its place.
    struct Fault {
        let pointer: String
        let sentence: String
    }

    /// The most levels of arrays and objects.
    static let nestingLimit = 512

    /// The number of all values, including the outermost.
    private(set) var valueCount = 0
    /// The faults, at most as many as were asked for.
    private(set) var faults: [Fault] = []

    /// - Parameter budget: pays for each value. If it is interrupted, the survey means nothing.
    init(_ value: Parameter, faultLimit: Int, within budget: WorkBudget) {
        var open: [Level] = []
        self.visit(value, at: nil, in: &open)
        while !open.isEmpty, self.faults.count < faultLimit, budget.spend(1) {
            let top = open.count - 1
            guard let (token, child) = open[top].next else {
                open.removeLast()
                continue
            }
            open[top].position += 1
            open[top].token = token
            if case .key(let key) = token, !open[top].keys.insert(ExactName(key)).inserted {
                self.add("the key is there twice, so it is unknown which value counts", Self.pointer(open))
            }
            self.visit(child, at: token, in: &open)
        }
    }

    private struct Level {
        let value: Parameter
        var position = 0
        var token: PointerToken?
        var keys: Set<ExactName> = []

        init(_ value: Parameter) { self.value = value }

        var next: (PointerToken, Parameter)? {
            switch self.value {
            case .array(let elements) where self.position < elements.count:
                (.index(self.position), elements[self.position])
            case .dictionary(let entries) where self.position < entries.count:
                (.key(entries[self.position].key), entries[self.position].value)
            default: nil
            }
        }
    }

    private mutating func visit(_ value: Parameter, at token: PointerToken?, in open: inout [Level]) {
        self.valueCount += 1
        switch value {
        case .array, .dictionary:
            guard open.count < Self.nestingLimit else {
                return self.add("is nested deeper than \(Self.nestingLimit) levels", Self.pointer(open))
            }
            open.append(Level(value))
        case .null, .bool, .integer, .string: break
        case .number, .decimal:
            if DecimalValue(value) == nil { self.add("is a number that JSON does not have", Self.pointer(open)) }
        default: self.add("is a value that JSON does not have", Self.pointer(open))
        }
    }

    private mutating func add(_ sentence: String, _ pointer: String) {
        self.faults.append(Fault(pointer: pointer, sentence: sentence))
    }

    private static func pointer(_ open: [Level]) -> String {
        var pointer = ""
        for token in open.compactMap(\.token) { JSONPointer.append(token, to: &pointer) }
        return pointer
    }
}
