// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Small images, three pixels wide and two high but for the GIF.
enum ImageSamples {
    static let png = Self.bytes(
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAA3NCSVQICAjb4U/gAAAAEUlEQVQImWP838EAAUwMMAAAHLkBiz6nkKQA",
        "AAAASUVORK5CYII=")
    static let jpeg = Self.bytes(
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5",
        "PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwhMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAAR",
        "CAACAAMDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEG",
        "E1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWG",
        "h4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEB",
        "AQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYk",
        "NOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0",
        "tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDcooor8xPvz//Z")
    static let tiff = Self.bytes(
        "SUkqABYAAAB4nPvfwfAfFQEAXRsJKwsAAAEDAAEAAAADAAAAAQEDAAEAAAACAAAAAgEDAAMAAACgAAAAAwEDAAEAAAAIAAAABgEDAAEAAAAC",
        "AAAACgEDAAEAAAABAAAAEQEEAAEAAAAIAAAAFQEDAAEAAAADAAAAFgEDAAEAAAACAAAAFwEEAAEAAAAOAAAAHAEDAAEAAAABAAAAAAAAAAgA",
        "CAAIAA==")
    static let ico = Self.bytes(
        "AAABAAEAAwIAAAEAGABIAAAAFgAAACgAAAADAAAABAAAAAEAGAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAiP8AiP8AiP8AAAAAiP8AiP8A",
        "iP8AAAAAAAAAAAAAAA==")
    static let bmp = Self.bytes(
        "Qk1OAAAAAAAAADYAAAAoAAAAAwAAAAIAAAABABgAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAIj/AIj/AIj/AAAAAIj/AIj/AIj/VQAA")
    /// One pixel.
    static let gif = Self.bytes("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
    /// The head of 30000 × 30000 pixels, and the end.
    static let largePNG = Self.bytes(
        "iVBORw0KGgoAAAANSUhEUgAAdTAAAHUwCAIAAADpRW/tAAAAEUlEQVR4nGNgGAWjYBQMdwAAA+gAAbOm00YAAAAASUVORK5CYII=")

    private static func bytes(_ base64: String...) -> [UInt8] { Array(Data(base64Encoded: base64.joined()) ?? Data()) }

    /// A GIF of 3 by 2 pixels whose second picture is one pixel.
    static let animation: [UInt8] = [
        71, 73, 70, 56, 57, 97, 3, 0, 2, 0, 145, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 255, 33, 249, 4, 0,
        10, 0, 0, 0, 44, 0, 0, 0, 0, 3, 0, 2, 0, 0, 2, 4, 68, 168, 17, 41, 0, 33, 249, 4, 0, 10, 0, 0, 0, 44, 1, 0,
        1, 0, 1, 0, 1, 0, 0, 2, 2, 84, 1, 0, 59,
    ]
}
