// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleSession

/// Gets the lists that other machines keep, by one rule for all commands: a young copy is used as it is, and an old one is asked for
/// again; if that fails, it is used with a warning. Without a copy there is no list.
struct ListSource: Sendable {
    /// A list, and the words about it.
    struct Loaded: Sendable {
        let text: ListClient.Text
        /// The reason why the list is old, or could not be kept; nil if all is well.
        let warning: String?
    }

    let store: ListStore

    /// Loads all lists.
    ///
    /// - Parameter tell: gets sentences about waits.
    /// - Returns: a list, or the reason why there is none, for each name.
    func load(
        _ fetches: [ListFetch], telling tell: @escaping @Sendable (String) -> Void
    ) async -> [String: Result<Loaded, ListFailure>] {
        var lists: [String: Result<Loaded, ListFailure>] = [:]
        var old: [(fetch: ListFetch, copy: ListClient.Text?)] = []
        for fetch in fetches {
            let copy = self.copy(of: fetch)
            if let copy, copy.copy.isYoung(at: .now(), every: fetch.every) {
                lists[fetch.name] = .success(Loaded(text: copy, warning: nil))
            } else {
                old.append((fetch, copy))
            }
        }
        // Loading does not need the network if all copies are young.
        guard !old.isEmpty else { return lists }
        let engine: Engine
        do throws(SessionError) { engine = try Engine(threads: 1) } catch {
            let failure = ListFailure(error.message)
            for (fetch, copy) in old { lists[fetch.name] = self.settled(.failure(failure), fetch, copy) }
            return lists
        }
        await withTaskGroup(of: (String, Result<Loaded, ListFailure>).self) { group in
            for (fetch, copy) in old {
                group.addTask {
                    let notice = WaitNotice(
                        "fetching the list \"\(fetch.name)\" from \(fetch.shownURL), for at most \(fetch.timeout.spelled)",
                        telling: tell)
                    defer { notice.end() }
                    return (fetch.name, self.settled(await self.ask(fetch, knowing: copy, on: engine), fetch, copy))
                }
            }
            for await (name, list) in group { lists[name] = list }
        }
        await engine.stopped()
        return lists
    }

    /// The kept text of a list; nil if there is none that can be used.
    func copy(of fetch: ListFetch) -> ListClient.Text? {
        self.store.read(fetch.url).flatMap { copy in try? ListClient.Text(copy) }
    }

    /// Asks the server, and keeps its text.
    func ask(
        _ fetch: ListFetch, knowing copy: ListClient.Text?, on engine: Engine
    ) async -> Result<Loaded, ListFailure> {
        do throws(ListFailure) {
            let text = try await ListClient.ask(fetch, knowing: copy, on: engine)
            do throws(ListFailure) { try self.store.write(text.copy, of: fetch.url) } catch {
                let warning = "the list \"\(fetch.name)\" cannot be kept for the next start: \(error.reason)"
                return .success(Loaded(text: text, warning: warning))
            }
            return .success(Loaded(text: text, warning: nil))
        } catch {
            return .failure(error)
        }
    }

    /// The answer of the server, else the copy with a warning, else the reason.
    private func settled(
        _ answer: Result<Loaded, ListFailure>, _ fetch: ListFetch, _ copy: ListClient.Text?
    ) -> Result<Loaded, ListFailure> {
        guard case .failure(let failure) = answer else { return answer }
        guard let copy else {
            return .failure(
                ListFailure("\(fetch.shownURL): \(failure.reason); and there is no earlier copy of the list"))
        }
        let warning =
            "the list \"\(fetch.name)\" is as of \(copy.copy.confirmed), because \(fetch.shownURL) failed: \(failure.reason)"
        return .success(Loaded(text: copy, warning: warning))
    }
}
