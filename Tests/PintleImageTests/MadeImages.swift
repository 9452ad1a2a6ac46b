// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting

/// Images that ImageMagick makes.
enum MadeImage: String, CaseIterable, Sendable {
    case png, jpeg, progressive, gif, tiff, bmp, ico, xbm

    static let size = ImageSize(width: 37, height: 23)

    /// The media types of the format.
    var mediaTypes: [String] {
        switch self {
        case .png: ["image/png"]
        case .jpeg, .progressive: ["image/jpeg"]
        case .gif: ["image/gif"]
        case .tiff: ["image/tiff"]
        case .bmp: ["image/bmp", "image/x-bmp", "image/x-win-bitmap"]
        case .ico: ["image/ico", "image/x-icon"]
        case .xbm: ["image/x-xbitmap"]
        }
    }

    func make() throws -> [UInt8] {
        let target =
            switch self {
            case .progressive: "-interlace JPEG jpeg:-"
            case .tiff: "-compress LZW tiff:-"
            case .png, .jpeg, .gif, .bmp, .ico, .xbm: "\(self):-"
            }
        return try Self.convert("plasma:red-blue -colors 64 \(target)")
    }

    /// Returns ImageMagick's conversion of an input of ``size``.
    static func convert(_ arguments: String, size: String = "\(Self.size.width)x\(Self.size.height)") throws -> [UInt8]
    {
        try ShellFilter.run("/usr/bin/convert -seed 5 -size \(size) \(arguments)")
    }
}

/// The bytes of a number, little endian.
func little(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }

/// The bytes of a number, big endian.
func big(_ value: Int, _ size: Int) -> [UInt8] { little(value, size).reversed() }

/// A Windows icon of pictures that are PNGs or, if taken from another icon, bitmaps.
func icon(of pictures: [[UInt8]]) -> [UInt8] {
    let bodies = pictures.map { $0.starts(with: [0, 0, 1, 0]) ? Array($0[22...]) : $0 }
    var directory = little(1 << 16, 4) + little(pictures.count, 2)
    var place = directory.count + 16 * pictures.count
    for body in bodies {
        directory += [37, 23, 0, 0, 1, 0, 32, 0] + little(body.count, 4) + little(place, 4)
        place += body.count
    }
    return directory + bodies.joined()
}
