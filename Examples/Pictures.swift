// SPDX-License-Identifier: Apache-2.0

import Pintle
import PintleExtras

/// Prints the sizes of a page's pictures: each is requested once even if it occurs several times, four at a time, and
/// missing ones get a placeholder.
func printPictures(_ names: [String], from base: String) async throws {
    let client = try HTTPSession(base: base)
    let serializer = ImageResponseSerializer(decoder: try ImageDecoder()).required().map { $0.size }
    let cache = AutoPurgingCache<CacheIdentifier, ImageSize> { _ in MemoryLayout<ImageSize>.size }
    let pictures = Downloader(client, as: serializer, cache: cache)
    let placeholder = ImageSize(width: 1, height: 1)
    let places = names.map { _ in DownloadSlot(pictures) }
    for (name, place) in zip(names, places) { place.load(name, placeholder: placeholder) }
    for (name, place) in zip(names, places) {
        await place.wait()
        guard let size = place.value else { continue }
        print("\(name): \(size.width) × \(size.height)")
    }
}

/// Prints a task's progress in tenths.
private actor Tenths: ProgressReporter {
    private var shown = 0

    func report(_ progress: TaskProgress) {
        let tenths = Int((progress.fractionReceived ?? 0) * 10)
        guard tenths > self.shown else { return }
        self.shown = tenths
        print("\(tenths * 10) %")
    }

    func finish(_ error: SessionError?) { print(error?.message ?? "complete") }
}

/// Refreshes a page, and prints the progress and the end.
func refreshPage(at url: String) async throws {
    let client = try HTTPSession()
    let page = try client.task("GET", url, as: TextResponseSerializer())
    let (refresh, tenths) = (TaskIndicator(), Tenths())
    refresh.bind(to: page.task)
    let progress = page.task.bindProgress(to: tenths)
    let text = try await page.run().value
    await progress.wait()
    for await isActive in refresh.activityStream where !isActive { break }
    print("refreshed: \(text.count) characters")
}
