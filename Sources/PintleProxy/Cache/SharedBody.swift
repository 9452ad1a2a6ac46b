// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleSession

/// The body of an answer that comes once and is read by many, on any loops, each at its own speed.
///
/// It is kept as a whole as long as it fits into what was reserved for it, and no reader holds up another. A longer one is
/// kept from the slowest reader's place on, and its source waits where that one is a window behind.
final class SharedBody: Sendable {
    /// A place in the body. Its number tells it from those of other readers.
    struct Reader: Sendable {
        fileprivate let number: Int
    }

    /// The find of a reader at its place.
    enum Next {
        case piece(ByteBuffer)
        /// Nothing yet: it is woken when there is more.
        case wait
        case end(SessionError?)
    }

    private struct Place {
        /// The number of pieces that were read.
        var index: Int
        var wake: (@Sendable () -> Void)?
    }

    private struct State {
        /// The pieces that are kept, and the number of those before them that are not.
        var pieces: CircularBuffer<ByteBuffer> = []
        var dropped = 0
        /// The bytes in ``pieces``, and those that came in all.
        var kept = 0
        var count = 0
        var isKeptWhole: Bool
        var end: Result<Void, SessionError>?
        var readers: [Int: Place] = [:]
        var nextNumber = 0
        /// Wakes the source where it waits for its readers.
        var resume: (@Sendable () -> Void)?
    }

    /// The most bytes that are kept of a body which is not kept as a whole.
    private static let window = 256 * 1024
    private let limit: Int
    /// All of the body where it was here from the beginning, which takes no lock to read; otherwise empty.
    let pieces: [ByteBuffer]
    private let state: NIOLockedValueBox<State>

    /// - Parameter limit: the bytes up to which the body is kept as a whole.
    init(limit: Int) {
        (self.limit, self.pieces) = (limit, [])
        self.state = NIOLockedValueBox(State(isKeptWhole: limit > 0))
    }

    /// A body that is here.
    init(whole pieces: [ByteBuffer]) {
        var state = State(isKeptWhole: true)
        state.pieces.append(contentsOf: pieces)
        state.kept = pieces.reduce(0) { $0 + $1.readableBytes }
        state.count = state.kept
        state.end = .success(())
        (self.limit, self.pieces) = (.max, pieces)
        self.state = NIOLockedValueBox(state)
    }

    // MARK: The source's side

    /// Adds a piece.
    ///
    /// - Returns: false where the source has to wait until it is resumed.
    func append(_ piece: ByteBuffer) -> Bool {
        let (wakes, goesOn) = self.state.withLockedValue { state in
            state.pieces.append(piece)
            state.kept += piece.readableBytes
            state.count += piece.readableBytes
            if state.count > self.limit { state.isKeptWhole = false }
            Self.drop(from: &state)
            return (Self.takeWakes(of: &state), state.isKeptWhole || state.kept < Self.window)
        }
        for wake in wakes { wake() }
        return goesOn
    }

    /// Has the source woken, on any thread, when there is room again; at once where there is by now.
    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        let hasRoom = self.state.withLockedValue { state in
            let hasRoom = state.isKeptWhole || state.kept < Self.window
            if !hasRoom { state.resume = resume }
            return hasRoom
        }
        if hasRoom { resume() }
    }

    /// Ends the body, well where `error` is nil.
    func finish(_ error: SessionError?) {
        let wakes = self.state.withLockedValue { state in
            state.end = error.map { .failure($0) } ?? .success(())
            return Self.takeWakes(of: &state)
        }
        for wake in wakes { wake() }
    }

    /// All of the body; nil where it is not complete, or too long to be kept.
    var whole: [ByteBuffer]? {
        self.state.withLockedValue { state in
            guard case .success? = state.end, state.dropped == 0, state.isKeptWhole else { return nil }
            return Array(state.pieces)
        }
    }

    /// All that has come, complete or not; nil where something of it is gone.
    var begun: [ByteBuffer]? {
        self.state.withLockedValue { $0.dropped == 0 && $0.isKeptWhole ? Array($0.pieces) : nil }
    }

    /// The bytes that have come.
    var count: Int { self.state.withLockedValue { $0.count } }

    /// True where nobody reads.
    var isUnread: Bool { self.state.withLockedValue { $0.readers.isEmpty } }

    // MARK: The readers' side

    /// Begins to read at the beginning; nil where that is gone.
    func open() -> Reader? {
        self.state.withLockedValue { state in
            guard state.dropped == 0 else { return nil }
            defer { state.nextNumber += 1 }
            state.readers[state.nextNumber] = Place(index: 0)
            return Reader(number: state.nextNumber)
        }
    }

    /// Takes the next piece.
    ///
    /// - Parameter wake: called once, on any thread, when there is more, where there is nothing now.
    func next(_ reader: Reader, wake: @escaping @Sendable () -> Void) -> Next {
        let (next, resume) = self.state.withLockedValue { state -> (Next, (@Sendable () -> Void)?) in
            guard var place = state.readers[reader.number] else { preconditionFailure("BUG: a closed reader reads") }
            let index = place.index - state.dropped
            guard index < state.pieces.count else {
                switch state.end {
                case nil: break
                case .success?: return (.end(nil), nil)
                case .failure(let error)?: return (.end(error), nil)
                }
                place.wake = wake
                state.readers[reader.number] = place
                return (.wait, nil)
            }
            let piece = state.pieces[state.pieces.index(state.pieces.startIndex, offsetBy: index)]
            place.index += 1
            state.readers[reader.number] = place
            Self.drop(from: &state)
            return (.piece(piece), self.takeResume(of: &state))
        }
        resume?()
        return next
    }

    /// Reads no more.
    ///
    /// - Returns: true where nobody else does.
    func close(_ reader: Reader) -> Bool {
        let (isLast, resume) = self.state.withLockedValue { state in
            state.readers[reader.number] = nil
            Self.drop(from: &state)
            return (state.readers.isEmpty, self.takeResume(of: &state))
        }
        resume?()
        return isLast
    }

    // MARK: Inside

    /// Forgets what every reader has, unless the body is kept as a whole.
    private static func drop(from state: inout State) {
        guard !state.isKeptWhole else { return }
        let least = state.readers.values.map(\.index).min() ?? state.dropped + state.pieces.count
        while state.dropped < least, let piece = state.pieces.popFirst() {
            state.dropped += 1
            state.kept -= piece.readableBytes
        }
    }

    private static func takeWakes(of state: inout State) -> [@Sendable () -> Void] {
        var wakes: [@Sendable () -> Void] = []
        for (number, place) in state.readers {
            guard let wake = place.wake else { continue }
            wakes.append(wake)
            state.readers[number]?.wake = nil
        }
        return wakes
    }

    private func takeResume(of state: inout State) -> (@Sendable () -> Void)? {
        guard state.kept < Self.window else { return nil }
        defer { state.resume = nil }
        return state.resume
    }
}
