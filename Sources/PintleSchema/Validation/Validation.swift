// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// One instance being judged.
///
/// Schemas that are being applied stand on a stack of our own, not on that of the thread, and every step is counted: a
/// schema whose branches branch again needs work that is exponential in the depth of the instance.
struct Validation {
    /// Steps for any instance, and more for each value that it has.
    static let baseSteps = 1_000_000
    static let stepsPerValue = 256
    /// The most schemas that may be applied inside of each other: 32 for each of the 512 levels of an instance.
    static let frameLimit = 32 * InstanceSurvey.nestingLimit

    let graph: SchemaGraph
    private let root: Int
    private let violationLimit: Int
    private let showsValues: Bool
    private let stepLimit: Int
    /// What all work for this message may take together.
    private let budget: WorkBudget
    /// How many more steps may be taken before ``refill()``.
    var stepsLeft = 0
    /// The steps that were taken from the budget for the ones that are left.
    private var taken = 0
    /// How many more steps this instance may have after those that are left.
    private var stepsBehind: Int
    var frames: [Frame] = []
    private var violations: [SchemaViolation] = []

    init(_ schema: JSONSchema, valueCount: Int, within budget: WorkBudget) {
        self.graph = schema.graph
        self.root = schema.root
        self.violationLimit = schema.options.violationLimit
        self.showsValues = schema.options.showsValues
        self.stepLimit = Self.baseSteps + Self.stepsPerValue * valueCount
        self.stepsBehind = self.stepLimit
        self.budget = budget
    }

    mutating func run(_ instance: Parameter) -> [SchemaViolation] {
        let tracks = self.graph.nodes[self.root].needsEvaluated
        self.frames.append(Frame(node: self.root, value: instance, reports: true, tracks: tracks))
        while !self.frames.isEmpty, self.violations.count < self.violationLimit { self.step() }
        _ = self.budget.spend(self.taken - self.stepsLeft)
        return self.violations
    }

    /// Pays for the steps that were taken, and makes some more available.
    ///
    /// - Returns: false where the instance, or all work for its message, has had as many as it may.
    private mutating func refill() -> Bool {
        guard self.budget.spend(self.taken - self.stepsLeft) else {
            (self.taken, self.stepsLeft) = (0, 0)
            return false
        }
        // What was charged in one go may be more than there was.
        self.stepsBehind += min(0, self.stepsLeft)
        self.taken = min(self.stepsBehind, WorkBudget.interval)
        guard self.taken > 0 else {
            (self.taken, self.stepsLeft) = (0, 0)
            return false
        }
        self.stepsBehind -= self.taken
        self.stepsLeft = self.taken
        return true
    }

    /// Whether so many steps can still be had, as far as this instance's own limit goes.
    func canTake(_ steps: Int) -> Bool { steps <= self.stepsLeft + self.stepsBehind }

    /// Takes one step of the schema on top.
    private mutating func step() {
        let top = self.frames.count - 1
        let node = self.frames[top].node
        let keyword = self.frames[top].keyword
        let isDecided = !self.frames[top].isValid && !self.frames[top].reports
        guard !isDecided, keyword < self.graph.nodes[node].keywords.count else { return self.pop() }
        self.stepsLeft -= 1
        guard self.stepsLeft >= 0 || self.refill() else {
            return self.giveUp("needs more than \(self.stepLimit) steps to be judged; simplify the schema")
        }
        switch self.graph.nodes[node].keywords[keyword] {
        case .assertion(let assertion):
            switch self.judge(assertion, self.frames[top].value) {
            case .holds: break
            case .broken: self.fail(top)
            case .unknown:
                return self.giveUp("needs more steps or memory to be matched than a string may; simplify the pattern")
            }
            self.frames[top].keyword += 1
        case .applicator(let applicator):
            if let child = self.nextChild(of: applicator, top) {
                guard self.frames.count < Self.frameLimit else {
                    return self.giveUp("needs more than \(Self.frameLimit) schemas inside of each other")
                }
                self.frames.append(child)
            } else if !self.frames.isEmpty {
                self.conclude(applicator, top)
            }
        }
    }

    private mutating func pop() {
        let child = self.frames.removeLast()
        let top = self.frames.count - 1
        guard top >= 0 else { return }
        guard
            case .applicator(let applicator) = self.graph.nodes[self.frames[top].node].keywords[
                self.frames[top].keyword]
        else { preconditionFailure("BUG: an assertion has no children") }
        self.receive(child, applicator, top)
    }

    // MARK: Faults

    /// Notes that the keyword under way does not hold.
    mutating func fail(_ top: Int, passed: Int = 0, branches: [Fault] = []) {
        let frame = self.frames[top]
        self.frames[top].isValid = false
        let fault = Fault(
            node: frame.node, keyword: frame.keyword, value: frame.value, passed: passed, branches: branches)
        if frame.reports {
            self.add(fault.sentence(in: self.graph, showsValues: self.showsValues), fault.node, fault.keyword)
        } else if frame.fault == nil {
            self.frames[top].fault = fault
        }
    }

    /// Takes a child's verdict over as the frame's own.
    mutating func adopt(_ child: Frame, _ top: Int) {
        guard !child.isValid else { return }
        self.frames[top].isValid = false
        if self.frames[top].fault == nil { self.frames[top].fault = child.faultFromBelow }
    }

    /// Ends the work without a verdict, which is a violation.
    mutating func giveUp(_ sentence: String) {
        guard let frame = self.frames.last else { return }
        // It replaces the last one where there are as many as may be told.
        if self.violations.count >= self.violationLimit { self.violations.removeLast() }
        self.add(sentence, frame.node, frame.keyword)
        self.frames.removeAll()
    }

    private mutating func add(_ sentence: String, _ node: Int, _ keyword: Int) {
        var pointer = ""
        for case let token? in self.frames.map(\.token) { JSONPointer.append(token, to: &pointer) }
        let schema = self.graph.nodes[node]
        let name = schema.keywords[keyword].name
        let isItself = if case .assertion(.never) = schema.keywords[keyword] { true } else { false }
        let violation = SchemaViolation(
            instanceLocation: pointer, schemaLocation: isItself ? schema.location : "\(schema.location)/\(name)",
            keyword: name, sentence: sentence)
        // Two ways may lead to one schema.
        if !self.violations.contains(violation) { self.violations.append(violation) }
    }
}

extension Frame {
    /// The fault as the frame below sees it.
    var faultFromBelow: Fault? {
        guard var fault = self.fault else { return nil }
        if let token = self.token { fault.tokens.append(token) }
        return fault
    }
}
