// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import Testing

@testable import PintleProxy

/// Every state of a ``RequestStream`` with every event.
struct RequestStreamTableTests {
    private static let get = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"
    private static let post = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\n"

    enum State: String, CaseIterable {
        case opening
        /// One request was answered.
        case idle
        /// A head has begun.
        case begun
        case body
        /// A byte of a body waits until it is taken.
        case held
        case answering
        /// A head has begun behind the request that is being answered.
        case pipelined
        case resting, lingering, entering, closed, abandoned

        var stage: RequestStreamStage {
            var stage = RequestStreamStage()
            switch self {
            case .opening: break
            case .idle:
                stage.receive(RequestStreamTableTests.get)
                stage.answer()
            case .begun: stage.receive("G")
            case .body: stage.receive(RequestStreamTableTests.post)
            case .held:
                stage.holdsBodies = true
                stage.receive(RequestStreamTableTests.post + "x")
            case .answering: stage.receive(RequestStreamTableTests.get)
            case .pipelined: stage.receive(RequestStreamTableTests.get + "G")
            case .resting:
                stage.answersAtOnce = true
                stage.receive(String(repeating: RequestStreamTableTests.get, count: 16) + "G")
                stage.answersAtOnce = false
            case .lingering: _ = stage.stream.linger()
            case .entering:
                stage.receive(RequestStreamTableTests.get)
                _ = stage.stream.enterTunnel()
            case .closed: stage.end()
            case .abandoned:
                stage.receive(RequestStreamTableTests.get)
                stage.stream.abandon()
            }
            _ = stage.takeTranscript()
            return stage
        }
    }

    enum Event: String, CaseIterable {
        /// A byte comes.
        case byte
        /// The client ends its side.
        case ends
        /// The response is written, and keeps the connection.
        case kept
        /// The response is written, and is the last one.
        case last
        /// The connection is closed gently.
        case lingers
        /// A tunnel is opened that ends in Pintle.
        case enters
        /// The client leaves.
        case leaves
        /// The client leaves while its exchange writes.
        case abandons
        /// Another protocol follows.
        case handOver
        /// Bytes of the body may be moved.
        case moves
        /// The rest is over, in the next turn.
        case resumes

        func play(on stage: inout RequestStreamStage) -> String {
            var result = ""
            switch self {
            case .byte: stage.receive("G")
            case .ends: stage.endInput()
            case .kept: stage.answer()
            case .last: stage.answer(keepsConnection: false)
            case .lingers: result = stage.stream.linger() ? "" : "no"
            case .enters: result = stage.stream.enterTunnel() ? "" : "no"
            case .leaves: stage.end()
            case .abandons: stage.stream.abandon()
            case .handOver: result = String(buffer: stage.stream.handOver())
            case .moves: stage.moveBody()
            case .resumes:
                stage.turn += 1
                stage.stream.resume()
                stage.run()
            }
            let actions = stage.takeTranscript() + (result.isEmpty ? [] : [result])
            return actions.joined(separator: ", ") + (actions.isEmpty ? "" : " ") + "> " + stage.phase
        }
    }

    /// The actions of each event in each state, and the phase that follows.
    private static let table: [State: [Event: String]] = [
        .opening: [
            .byte: "awaits the rest > head", .ends: "closes > lingering", .kept: "lingers > lingering",
            .last: "lingers > lingering", .lingers: "> lingering", .enters: "> entering", .leaves: "> closed",
            .abandons: "> closed", .handOver: "> closed", .moves: "nothing to move > opening", .resumes: "> opening",
        ],
        .idle: [
            .byte: "awaits the rest > head", .ends: "closes > lingering", .kept: "lingers > lingering",
            .last: "lingers > lingering", .lingers: "> lingering", .enters: "> entering", .leaves: "> closed",
            .abandons: "> closed", .handOver: "> closed", .moves: "nothing to move > head", .resumes: "> head",
        ],
        .begun: [
            .byte: "awaits the rest > head", .ends: "closes > lingering", .kept: "lingers > lingering",
            .last: "lingers > lingering", .lingers: "> lingering", .enters: "> entering", .leaves: "> closed",
            .abandons: "> closed", .handOver: "G > closed", .moves: "nothing to move > head",
            .resumes: "awaits the rest > head",
        ],
        .body: [
            .byte: "POST1 takes G > body", .ends: "breaks off, POST1 hears of the end > closed",
            .kept: "lingers > lingering", .last: "lingers > lingering", .lingers: "> lingering", .enters: "> entering",
            .leaves: "POST1 hears of the end > closed", .abandons: "> abandoned", .handOver: "> closed",
            .moves: "POST1 moves 2, POST1 ends > answering", .resumes: "> body",
        ],
        .held: [
            .byte: "> body", .ends: "> body", .kept: "lingers > lingering", .last: "lingers > lingering",
            .lingers: "> lingering", .enters: "> entering", .leaves: "POST1 hears of the end > closed",
            .abandons: "> abandoned", .handOver: "x > closed", .moves: "nothing to move > body", .resumes: "> body",
        ],
        .answering: [
            .byte: "> answering", .ends: "> answering", .kept: "> head", .last: "lingers > lingering",
            .lingers: "> lingering", .enters: "> entering", .leaves: "GET1 hears of the end > closed",
            .abandons: "> abandoned", .handOver: "> closed", .moves: "nothing to move > answering",
            .resumes: "> answering",
        ],
        .pipelined: [
            .byte: "> answering", .ends: "> answering", .kept: "awaits the rest > head", .last: "lingers > lingering",
            .lingers: "> lingering", .enters: "> entering", .leaves: "GET1 hears of the end > closed",
            .abandons: "> abandoned", .handOver: "G > closed", .moves: "nothing to move > answering",
            .resumes: "> answering",
        ],
        .resting: [
            .byte: "> head", .ends: "> head", .kept: "lingers > lingering", .last: "lingers > lingering",
            .lingers: "> lingering", .enters: "> entering", .leaves: "> closed", .abandons: "> closed",
            .handOver: "G > closed", .moves: "nothing to move > head", .resumes: "awaits the rest > head",
        ],
        .lingering: [
            .byte: "> lingering", .ends: "> lingering", .kept: "lingers > lingering", .last: "lingers > lingering",
            .lingers: "> lingering", .enters: "> entering", .leaves: "> closed", .abandons: "> closed",
            .handOver: "> closed", .moves: "nothing to move > lingering", .resumes: "> lingering",
        ],
        .entering: [
            .byte: "> entering", .ends: "> entering", .kept: "lingers > lingering", .last: "lingers > lingering",
            .lingers: "> lingering", .enters: "> entering", .leaves: "> closed", .abandons: "> closed",
            .handOver: "> closed", .moves: "nothing to move > entering", .resumes: "> entering",
        ],
        .closed: [
            .byte: "> closed", .ends: "> closed", .kept: "> closed", .last: "> closed", .lingers: "no > closed",
            .enters: "no > closed", .leaves: "> closed", .abandons: "> closed", .handOver: "> closed",
            .moves: "nothing to move > closed", .resumes: "> closed",
        ],
        .abandoned: [
            .byte: "> abandoned", .ends: "> abandoned", .kept: "> abandoned", .last: "> abandoned",
            .lingers: "no > abandoned", .enters: "no > abandoned", .leaves: "> abandoned", .abandons: "> abandoned",
            .handOver: "> closed", .moves: "nothing to move > abandoned", .resumes: "> abandoned",
        ],
    ]

    @Test(arguments: State.allCases, Event.allCases)
    func `every event has its outcome in every state`(state: State, event: Event) {
        var stage = state.stage
        let outcome = event.play(on: &stage)
        #expect(outcome == Self.table[state]?[event])
    }

    @Test func `every state says what is expected of the client`() {
        let expectations: [State: ClientDeadline.Expectation?] = [
            .opening: .firstHead, .idle: .nextHead, .begun: .restOfHead, .body: .body, .held: .body,
            .answering: .nothing, .pipelined: .nothing, .resting: .restOfHead, .lingering: .clientToClose,
            .entering: .clientToRead, .closed: nil, .abandoned: nil,
        ]
        for state in State.allCases { #expect(state.stage.stream.expectation == expectations[state], "\(state)") }
    }

    @Test func `a request is under way only while it is read or answered`() {
        for state in State.allCases {
            let stream = state.stage.stream
            let isUnderWay = [.body, .held, .answering, .pipelined].contains(state)
            #expect((stream.receiver != nil) == isUnderWay, "\(state)")
            #expect(stream.isBetweenRequests == [.opening, .idle, .begun, .resting].contains(state), "\(state)")
            #expect(stream.hasEnded == [.closed, .abandoned].contains(state), "\(state)")
            #expect(stream.mayContinue == [.answering, .pipelined].contains(state), "\(state)")
            #expect(stream.wantsBytes(isWritable: true), "\(state)")
            #expect(stream.wantsBytes(isWritable: false) == !stream.isBetweenRequests, "\(state)")
        }
    }

    @Test func `an abandoned receiver hears of the end once`() {
        let stage = State.abandoned.stage
        let (first, second) = (stage.stream.takeAbandoned(), stage.stream.takeAbandoned())
        #expect(first === stage.takers[0] && second == nil)
        #expect(stage.phase == "closed")
    }

    // MARK: Traps

    @Test(arguments: State.allCases.filter { ![.idle, .begun, .resting].contains($0) }.map(\.rawValue))
    func `a request begins only behind a head`(state: String) async {
        await #expect(processExitsWith: .failure) { [state] in
            let stage = State(rawValue: state)?.stage
            stage?.stream.begin(.none, limits: HeadLimits(), for: BodyTaker("a request too many"))
        }
    }

    @Test func `a run does not begin within another`() async {
        await #expect(processExitsWith: .failure) {
            let stage = RequestStreamStage()
            stage.stream.startRun()
            stage.stream.startRun()
        }
    }
}
