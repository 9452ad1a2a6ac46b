// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleSession

/// The body of an answer that comes once and is read by many, on any loops, each at its own speed.
///
/// It is kept in memory as a whole as long as it fits into what was reserved for it. A longer one is written to a disk, where there
/// is one for it: memory keeps a window of the latest bytes then, and who is behind that reads from the disk, so no reader holds
/// up another. Without a disk, or when it takes no more, the bytes that somebody has still to read stay in memory, and the source
/// waits where they are a window.
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

    /// The most bytes that a body takes in memory that is not kept there as a whole, before its source waits; a piece more, at most.
    static let window = 256 * 1024
    /// All of the body where it was in memory from the beginning, which takes no lock to read; otherwise empty.
    let pieces: [ByteBuffer]
    private let state: NIOLockedValueBox<BodyState>

    /// - Parameters:
    ///   - limit: the bytes up to which the body is kept in memory as a whole.
    ///   - share: the memory that is set apart for it, until nobody has the body any more.
    ///   - store: called at most once, when it is longer, and let go at the end: it reads the body as ``openForStoring()`` says, and
    ///     writes it to a disk.
    init(limit: Int, in share: BodyBudget.Share? = nil, store: (@Sendable (SharedBody) -> Void)? = nil) {
        self.pieces = []
        self.state = NIOLockedValueBox(BodyState(limit: limit, in: share, store: store))
    }

    /// A body that is in memory.
    init(whole pieces: [ByteBuffer]) {
        self.pieces = pieces
        self.state = NIOLockedValueBox(BodyState(whole: pieces))
    }

    /// A body that is on a disk.
    ///
    /// - Parameter length: in bytes.
    init(stored storage: any BodyStorage, length: UInt64) {
        self.pieces = []
        self.state = NIOLockedValueBox(BodyState(stored: storage, length: length))
    }

    // MARK: The source's side

    /// Adds a piece.
    ///
    /// - Returns: false where the source has to wait until it is resumed.
    func append(_ piece: ByteBuffer) -> Bool {
        let (wakes, store, goesOn) = self.state.withLockedValue { state in
            state.append(piece)
            let store = state.outgrowMemory()
            state.drop()
            return (state.takeWakes(), store, state.hasRoom)
        }
        store?(self)
        for wake in wakes { wake() }
        return goesOn
    }

    /// Has the source woken, on any thread, when there is room again; at once where there is by now.
    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        let hasRoom = self.state.withLockedValue { state in
            if !state.hasRoom { state.resume = resume }
            return state.hasRoom
        }
        if hasRoom { resume() }
    }

    /// True where the source may go on.
    var hasRoom: Bool { self.state.withLockedValue { $0.hasRoom } }

    /// Begins to measure how much readers read.
    func markReaders() { self.state.withLockedValue { $0.markReaders() } }

    /// Lets go of readers that have hardly read since they were marked, where others wait that have read all there is: the end
    /// that they find is an error.
    ///
    /// - Returns: true where the body waits for its readers, and less than a window has come since they were marked.
    func letStragglersGo() -> Bool {
        let (areSlow, resume) = self.state.withLockedValue { ($0.letStragglersGo(), $0.takeResume()) }
        resume?()
        return areSlow
    }

    /// Ends the body, well where `error` is nil.
    func finish(_ error: SessionError?) {
        let (wakes, store) = self.state.withLockedValue { state in
            state.end = error.map { .failure($0) } ?? .success(())
            defer { state.store = nil }
            return (state.takeWakes(), state.store)
        }
        // It may hold the source, which holds this body.
        withExtendedLifetime(store) {}
        for wake in wakes { wake() }
    }

    /// All of the body; nil where it is not complete, or not in memory as a whole.
    var whole: [ByteBuffer]? {
        self.state.withLockedValue { state in
            guard case .success? = state.end else { return nil }
            return state.everything
        }
    }

    /// All that has come, complete or not; nil where something of it is not in memory.
    var begun: [ByteBuffer]? { self.state.withLockedValue { $0.everything } }

    /// True while it is too long for memory, and a disk takes it.
    var isBeingWritten: Bool { self.state.withLockedValue { $0.isBeingWritten } }

    /// Counts the memory of a body that is kept there no more, as long as somebody reads it.
    func leaveMemory(for budget: BodyBudget) {
        if self.pieces.isEmpty { return }
        self.state.withLockedValue { $0.leaveMemory(for: budget) }
    }

    /// True where it is too long to be kept anywhere.
    var isIncomplete: Bool { self.state.withLockedValue { $0.isIncomplete } }

    /// The bytes that have come.
    var count: UInt64 { self.state.withLockedValue { $0.count } }

    /// Lets nobody begin to read any more, unless somebody reads; who writes it to a disk does not count.
    ///
    /// - Returns: false where somebody reads.
    func closeIfUnread() -> Bool { self.state.withLockedValue { $0.closeIfUnread() } }

    // MARK: The disk's side

    /// Begins to read in order to write the body to a disk. What was not said to be stored stays in memory for it.
    func openForStoring() -> Reader { Reader(number: self.state.withLockedValue { $0.openForStoring() }) }

    /// Notes that bytes can be read from the disk.
    ///
    /// - Parameter length: their number, from the first one of the body on.
    func stored(_ length: UInt64, in storage: any BodyStorage) {
        let resume = self.state.withLockedValue { state in
            (state.storage, state.written) = (storage, length)
            state.drop()
            return state.takeResume()
        }
        resume?()
    }

    /// Notes that the disk takes no more, and closes the place of who was writing. What is stored can be read on.
    func storingEnded(_ reader: Reader) {
        let resume = self.state.withLockedValue { state in
            state.close(reader.number)
            state.endStoring()
            state.drop()
            return state.takeResume()
        }
        resume?()
    }

    // MARK: The readers' side

    /// Begins to read; nil where the bytes from there on are gone.
    ///
    /// - Parameter offset: the place of the first byte that is wanted (0…length).
    func open(at offset: UInt64 = 0) -> Reader? {
        self.state.withLockedValue { $0.open(at: offset) }.map(Reader.init)
    }

    /// Takes the next piece.
    ///
    /// - Parameter wake: called once, on any thread, when there is more, where there is nothing now.
    func next(_ reader: Reader, wake: @escaping @Sendable () -> Void) -> Next {
        let (next, question, resume) = self.state.withLockedValue { state in
            let (next, question) = state.next(reader.number, wake: wake)
            return (next, question, state.takeResume())
        }
        resume?()
        if let question { self.ask(question, for: reader) }
        return next
    }

    /// Reads no more.
    ///
    /// - Returns: true where nobody else does.
    func close(_ reader: Reader) -> Bool {
        let (isLast, resume) = self.state.withLockedValue { state in
            state.close(reader.number)
            state.drop()
            return (state.isUnread, state.takeResume())
        }
        resume?()
        return isLast
    }

    /// Reads from the disk what a reader wants that is not in memory.
    private func ask(_ question: BodyState.Question, for reader: Reader) {
        Task {
            let found: Result<ByteBuffer, SessionError>
            do throws(SessionError) {
                found = .success(try await question.storage.bytes(at: question.offset, upTo: question.count))
            } catch {
                found = .failure(error)
            }
            self.state.withLockedValue { $0.found(found, for: reader.number) }?()
        }
    }
}
