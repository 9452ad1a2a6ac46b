// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// The validation of one instance.
///
/// Schemas that are being applied are on a stack of its own, not on the thread's, and every step is counted: a schema with
/// branches in its branches needs work that is exponential in the depth of the instance.
struct Validation {
    /// The steps for any instance, and the further steps for each value in it.
    static let baseSteps = 1_000_000
    static let stepsPerValue = 256
    /// The most schemas that may be applied inside one another: 32 for each of the 512 levels of an instance.
    static let frameLimit = 32 * InstanceSurvey.nestingLimit

    let graph: SchemaGraph
    private let root: Int
    private let violationLimit: Int
    private let showsValues: Bool
    private let stepLimit: Int
    /// The budget for all work for this message.
    private let budget: WorkBudget
    /// The number of steps that may be taken before ``refill()``.
    var stepsLeft = 0
    /// The steps that the last ``refill()`` made available.
    private var taken = 0
    /// The number of steps that this instance may take after ``stepsLeft``.
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

    /// Charges the budget for the steps that were taken, and makes more steps available.
    ///
    /// - Returns: false if the instance, or all work for its message, has used up its steps.
    private mutating func refill() -> Bool {
        guard self.budget.spend(self.taken - self.stepsLeft) else {
            (self.taken, self.stepsLeft) = (0, 0)
            return false
        }
        // A single charge may exceed the steps that were left.
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

    /// True if this instance's own limit allows `steps` more steps.
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

    /// Notes that the current keyword does not hold.
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

    /// Adopts a child's verdict as the frame's own.
    mutating func adopt(_ child: Frame, _ top: Int) {
        guard !child.isValid else { return }
        self.frames[top].isValid = false
        if self.frames[top].fault == nil { self.frames[top].fault = child.faultFromBelow }
    }

    /// Ends the validation without a verdict, which counts as a violation.
    mutating func giveUp(_ sentence: String) {
        guard let frame = self.frames.last else { return }
        // If the limit of violations is reached, it replaces the last one.
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
        // Two ways may lead to one schema, so the violation may be known already.
        if !self.violations.contains(violation) { self.violations.append(violation) }
    }
}

extension Frame {
    /// The fault, with its place relative to the value of the frame below.
    var faultFromBelow: Fault? {
        guard var fault = self.fault else { return nil }
        if let token = self.token { fault.tokens.append(token) }
        return fault
    }
}
