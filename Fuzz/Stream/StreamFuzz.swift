// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleSerialization

/// Fuzzes lines, JSON Lines and event streams: the same items, and the same error, whole and in pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStream(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = fuzzedBytes(data, count)
    // The first byte chooses the limit on the length.
    let limit = text.first.map { 16 << (Int($0) & 7) } ?? 16
    compare(text) { TextLines(ending: .lineFeed, limit: limit) }
    compare(text) { TextLines(ending: .any, limit: limit) }
    compare(text) { JSONLines<[String: Int]>(limit: limit) }
    let events = compare(text) { ServerSentEvents(limit: limit, lastEventID: "0") }
    for event in events {
        hold(!event.id.utf8.contains(0), "an ID has no zero byte")
        hold(!event.data.utf8.contains(UInt8(ascii: "\r")), "data have no carriage return")
        hold(event.retry.map { $0 >= .zero } != false, "a time is not negative")
    }
    return 0
}

@discardableResult
private func compare<Consumer: LineConsumer>(_ text: [UInt8], _ make: () -> Consumer) -> [Consumer.Item]
where Consumer.Item: Equatable {
    let whole = parsed(make(), [text])
    let inPieces = parsed(make(), text.pieces)
    hold(inPieces.items == whole.items, "pieces have the items of the whole: \(inPieces), not \(whole)")
    hold(inPieces.error == whole.error, "pieces have the error of the whole: \(inPieces), not \(whole)")
    return whole.items
}

private func parsed<Consumer: LineConsumer>(
    _ consumer: Consumer, _ pieces: [[UInt8]]
) -> (items: [Consumer.Item], error: TextStreamError?) {
    var parser = LineParser(consumer)
    var items: [Consumer.Item] = []
    do throws(TextStreamError) {
        for piece in pieces {
            var taken = 0
            while taken < piece.count {
                let (count, item) = try piece[taken...].withUnsafeBufferPointer { rest throws(TextStreamError) in
                    try parser.take(UnsafeRawBufferPointer(rest))
                }
                taken += count
                if let item { items.append(item) }
                hold(item != nil || taken == piece.count, "bytes are left where there is no item")
            }
        }
        if let last = try parser.finish() { items.append(last) }
        return (items, nil)
    } catch {
        return (items, error)
    }
}
