// SPDX-License-Identifier: Apache-2.0

public import PintleSession
internal import PintleSystem

/// A place that shows a value of a ``Downloader``: nothing, a placeholder, or the value that was requested last
/// (AFNetworking's image view; a button has a slot for each of its states, a web view one of text).
///
///     let portrait = DownloadSlot(pictures)
///     portrait.load("ada.png", placeholder: silhouette)
///     for await picture in portrait.valueStream { draw(picture) }
///
/// Each load replaces the one before and drops its value or failure without a call. Releasing the slot cancels its
/// load.
public final class DownloadSlot<Value: Sendable>: Sendable {
    /// Called with the value instead of showing it in the slot.
    public typealias Success = @Sendable (Downloader<Value>.Answer) -> Void
    /// Called with the reason if there is no value; the placeholder stays.
    public typealias Failure = @Sendable (SessionError) -> Void

    private struct Load: Sendable {
        let number: Int
        let placeholder: Value?
        let ended = Latch()
        var receipt: DownloadReceipt?
    }

    private struct State: Sendable {
        var value: Value?
        var load: Load?
        var lastNumber = 0
    }

    /// The downloader that loads the values.
    public let downloader: Downloader<Value>
    private let state: Locked<State>
    private let values = EventBroadcast<Value?>(.bufferingNewest(1))

    /// Makes a slot.
    ///
    /// - Parameter value: shown until something is loaded; nil for nothing.
    public init(_ downloader: Downloader<Value>, showing value: Value? = nil) {
        self.downloader = downloader
        self.state = Locked(State(value: value))
    }

    deinit {
        self.values.finish()
        if let load = self.state.withLock({ $0.load }) { self.drop(load) }
    }

    // MARK: Asking

    /// The value that is shown: a placeholder, or a loaded one. Setting it ends no load.
    public var value: Value? {
        get { self.state.withLock { $0.value } }
        set { self.change { self.show(newValue, &$0) } }
    }

    /// The current value, then each new one. A slow reader misses values, but never the last one.
    public var valueStream: AsyncStream<Value?> {
        self.state.withLock { self.values.subscribe(beginningWith: $0.value) }
    }

    /// True from the start of a load until its value or failure.
    public var isLoading: Bool { self.state.withLock { $0.load != nil } }

    /// The receipt of the current load, for the progress of its task; nil while there is no transfer.
    public var receipt: DownloadReceipt? { self.state.withLock { $0.load?.receipt } }

    /// Waits until the current load is shown, has failed, or was replaced or cancelled; returns at once if there is
    /// none.
    public func wait() async { await self.state.withLock { $0.load?.ended }?.wait() }

    // MARK: Loading

    /// Loads a URL with GET, like ``load(_:placeholder:success:failure:)-(SessionRequest,_,_,_)``.
    ///
    /// - Parameter url: resolved against the client's base. If it is nil or invalid, the placeholder is shown, even if
    ///   that is nil, and `failure` is called with `invalidURL`.
    public func load(
        _ url: String?, placeholder: Value? = nil, success: Success? = nil, failure: Failure? = nil
    ) {
        do throws(SessionError) {
            guard let url else { throw SessionError(.invalidURL, "there is no URL to load") }
            let request = try self.downloader.client.request(url) { _ in }
            self.load(request, placeholder: placeholder, success: success, failure: failure)
        } catch {
            self.cancel()
            self.value = placeholder
            failure?(error)
        }
    }

    /// Loads the value of a request and replaces the load before; a transfer for an equal request continues.
    ///
    /// - Parameters:
    ///   - placeholder: shown while the load runs, and if it fails; nil leaves the present value. If the cache has the
    ///     value, that is shown at once instead.
    ///   - success: called with the value instead of showing it; if nil, the value is shown.
    ///   - failure: called with the reason if there is no value.
    public func load(
        _ request: SessionRequest, placeholder: Value? = nil, success: Success? = nil, failure: Failure? = nil
    ) {
        let (number, earlier) = self.state.withLock { state in
            state.lastNumber += 1
            let earlier = state.load
            state.load = Load(number: state.lastNumber, placeholder: placeholder, receipt: nil)
            return (state.lastNumber, earlier)
        }
        let receipt = self.downloader.download(request) { [weak self] result in
            self?.arrived(result, number, success, failure)
        }
        let isCurrent = self.change { state in
            guard state.load?.number == number else { return false }
            state.load?.receipt = receipt
            if let placeholder { self.show(placeholder, &state) }
            return true
        }
        if !isCurrent, let receipt { self.downloader.cancel(receipt) }
        // Dropped only now, so that a transfer that both loads share does not end in between.
        if let earlier { self.drop(earlier) }
    }

    /// Cancels the current load without calling its closures. The value that is shown stays.
    public func cancel() {
        let load = self.state.withLock { state in
            defer { state.load = nil }
            return state.load
        }
        if let load { self.drop(load) }
    }

    // MARK: Inside

    private func drop(_ load: Load) {
        if let receipt = load.receipt { self.downloader.cancel(receipt) }
        load.ended.happen()
    }

    private func arrived(
        _ result: Result<Downloader<Value>.Answer, SessionError>, _ number: Int, _ success: Success?,
        _ failure: Failure?
    ) {
        let ended = self.change { state -> Latch? in
            // Another load or a cancellation came first.
            guard let load = state.load, load.number == number else { return nil }
            state.load = nil
            switch result {
            case .success(let answer): if success == nil { self.show(answer.value, &state) }
            // If there was no transfer, the placeholder is not shown yet.
            case .failure: if load.receipt == nil, let placeholder = load.placeholder { self.show(placeholder, &state) }
            }
            return load.ended
        }
        // The closures of a load that was replaced or cancelled are not called.
        guard let ended else { return }
        switch result {
        case .success(let answer): success?(answer)
        case .failure(let error): failure?(error)
        }
        ended.happen()
    }

    /// Changes the state under the lock. A value that is replaced is released outside: its deinit may ask the slot.
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, old) = self.state.withLock { state in
            let old = state.value
            return (body(&state), old)
        }
        withExtendedLifetime(old) {}
        return result
    }

    /// Posts the value under the lock, so that readers see values in the order of their showing.
    private func show(_ value: Value?, _ state: inout State) {
        state.value = value
        self.values.post(value)
    }
}
