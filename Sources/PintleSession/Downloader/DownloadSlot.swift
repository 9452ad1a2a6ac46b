// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// A place that shows what a ``Downloader`` brings: nothing, a placeholder, or the value that was asked for last
/// (AFNetworking's image view; a button has a slot for each of its states, a web view one of text).
///
///     let portrait = DownloadSlot(pictures)
///     portrait.load("ada.png", placeholder: silhouette)
///     for await picture in portrait.valueStream { draw(picture) }
///
/// Each load takes the place of the one before, whose value and calls are dropped, failures too. What a slot loads is
/// cancelled when the slot goes.
public final class DownloadSlot<Value: Sendable>: Sendable {
    /// Told of the value. It shows it: the slot does not.
    public typealias Success = @Sendable (Downloader<Value>.Answer) -> Void
    /// Told why there is no value; the placeholder stays.
    public typealias Failure = @Sendable (SessionError) -> Void

    private struct Load: Sendable {
        let number: Int
        let placeholder: Value?
        let ended = OneTimeEvent()
        var receipt: DownloadReceipt?
    }

    private struct State: Sendable {
        var value: Value?
        var load: Load?
        var lastNumber = 0
    }

    /// The downloader that brings the values.
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

    /// The value that is shown: a placeholder, or what was loaded. Setting it ends no load.
    public var value: Value? {
        get { self.state.withLock { $0.value } }
        set { self.state.withLock { self.show(newValue, &$0) } }
    }

    /// The value as it is now, then whenever it has changed. A reader that is slow misses values, never the last one.
    public var valueStream: AsyncStream<Value?> {
        self.state.withLock { self.values.subscribe(beginningWith: $0.value) }
    }

    /// True from a load until its value or failure.
    public var isLoading: Bool { self.state.withLock { $0.load != nil } }

    /// The receipt of what is loaded, for the progress of its task; nil while there is no transfer.
    public var receipt: DownloadReceipt? { self.state.withLock { $0.load?.receipt } }

    /// Waits until what is loaded now is shown, has failed, or was replaced or cancelled; no time where nothing is
    /// loaded.
    public func wait() async { await self.state.withLock { $0.load?.ended }?.wait() }

    // MARK: Loading

    /// Loads what GET of a URL gives, as ``load(_:placeholder:success:failure:)-(SessionRequest,_,_,_)`` does.
    ///
    /// - Parameter url: resolved against the client's base. Without one, or with one that is none, the placeholder is
    ///   shown, even if it is nil, and `failure` is told `invalidURL`.
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

    /// Loads the value of a request in place of what was loaded before; a transfer for an equal request goes on.
    ///
    /// - Parameters:
    ///   - placeholder: shown meanwhile, and when there is no value; nil leaves what is shown. A value that the cache
    ///     has is shown at once instead.
    ///   - success: told of the value in place of showing it; nil shows it.
    ///   - failure: told why there is none.
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
        let isCurrent = self.state.withLock { state in
            guard state.load?.number == number else { return false }
            state.load?.receipt = receipt
            if let placeholder { self.show(placeholder, &state) }
            return true
        }
        if !isCurrent, let receipt { self.downloader.cancel(receipt) }
        // Only now: a transfer that both wait for is not to end in between.
        if let earlier { self.drop(earlier) }
    }

    /// Ends what is loaded, without a word to who asked for it. What is shown stays.
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
        let ended = self.state.withLock { state -> OneTimeEvent? in
            // Another load, or a cancellation, came before.
            guard let load = state.load, load.number == number else { return nil }
            state.load = nil
            switch result {
            case .success(let answer): if success == nil { self.show(answer.value, &state) }
            // Where there was no transfer, the placeholder is not there yet.
            case .failure: if load.receipt == nil, let placeholder = load.placeholder { self.show(placeholder, &state) }
            }
            return load.ended
        }
        guard let ended else { return }
        switch result {
        case .success(let answer): success?(answer)
        case .failure(let error): failure?(error)
        }
        ended.happen()
    }

    /// Told while the state is held, so that values come in the order of their showing.
    private func show(_ value: Value?, _ state: inout State) {
        state.value = value
        self.values.post(value)
    }
}
