// SPDX-License-Identifier: Apache-2.0

import PintleImage
import PintleSerialization
import Testing

@Suite struct XBitmapTests {
    private static let head = "#define a_width 9\n#define a_height 2\n"

    private func error(_ text: String, limit: Int = 1_000) throws -> ImageError? {
        let decoder = try ImageDecoder(pixelLimit: limit)
        do throws(ImageError) {
            _ = try decoder.check(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "\(head)static char a_bits[] = {\n 0x1, 0x00, 0XFF, 0x01 };\n",
        "\(head)static unsigned char a_bits[]={1,2,3,0377,};",
        "\(head)static const unsigned char a_bits[4] = {1,2,3,4}",
        "\(head)static short a_bits[] = { 0x1FF, 0xFFFF };",
        "/* by hand */ \(head)#define a_x_hot 0\n#define a_y_hot -1\nstatic char a_bits[] = {1,2,/**/3,4};/* end */\n",
        "#define -_width 9\n#define -_height 2\nstatic char -_bits[] = {\n  0x1, 0x0, 0xFF, 0x01, };\n",
        "\n#define width 9\r\n#define height 2\r\nchar bits[]={0,0,0,0};",
    ])
    func `an X bitmap is read and has its size`(text: String) throws {
        #expect(try ImageDecoder().check(Array(text.utf8)) == ImageSize(width: 9, height: 2))
    }

    @Test(
        arguments: [
            ("#define", "at byte 7 a name is due"), ("\(head)#if 1", "at byte 40 “define” is due"),
            ("#define a_width", "at byte 15 a number is due"), ("#define a_width x", "at byte 16 a number is due"),
            ("#define a_width 0x", "at byte 18 a number is due"),
            ("#define a_width 9\n", "at byte 18 a “#define” of width and height is due"),
            ("#define a_width 0\n", "at byte 16 a size from 1 to 2147483647 is due"),
            ("#define a_width -3\n", "at byte 16 a size from 1 to 2147483647 is due"),
            ("#define a_width 2147483648\n", "at byte 16 a size from 1 to 2147483647 is due"),
            ("#define a_width 4294967296\n", "at byte 16 a number of 32 bits is due"),
            ("\(head)", "at byte 37 “char” or “short” is due"),
            ("\(head)int a[]", "at byte 37 “char” or “short” is due"),
            ("\(head)char a_bits = {", "at byte 49 “[” is due"), ("\(head)char a[2 = {", "at byte 46 “]” is due"),
            ("\(head)char a[] {", "at byte 46 “=” is due"), ("\(head)char a[] = 1", "at byte 48 “{” is due"),
            ("\(head)char a[] = {1,2,3}", "at byte 54 the rest of 4 numbers is due"),
            ("\(head)char a[] = {1,2,3,4,5}", "at byte 57 the end of 4 numbers is due"),
            ("\(head)char a[] = {1,256,3,4}", "at byte 51 a number below 256 is due"),
            ("\(head)char a[] = {1 2,3,4}", "at byte 51 “}” is due"),
            ("\(head)char a[] = {1,08}", "at byte 52 “}” is due"),
            ("\(head)char a[] = {1,2,3,4}; int", "at byte 59 the end is due"),
            ("\(head)char a[] = {1,2,3,4", "at byte 56 “}” is due"),
            ("/* \(head)", "at byte 40 the end of the comment is due"),
        ])
    func `what is no X bitmap says where`(text: String, problem: String) throws {
        #expect(try self.error(text) == ImageError(.undecodable, "the X bitmap cannot be decoded: \(problem)"))
    }

    @Test func `a name is bounded`() throws {
        let name = String(repeating: "a", count: 100_000)
        #expect(
            try self.error("#define \(name)_width 9")
                == ImageError(.undecodable, "the X bitmap cannot be decoded: at byte 8 a name is due"))
    }

    @Test func `an X bitmap of too many pixels is refused by its size`() throws {
        let large = "#define w_width 2147483647\n#define w_height 2147483647\nstatic char w_bits[] = {"
        #expect(
            try self.error(large)
                == ImageError(.tooLarge, "2147483647 × 2147483647 pixels are more than the 1000 that are accepted"))
        #expect(try self.error("\(Self.head)char a[] = {1,2,3,4};", limit: 17)?.code == .tooLarge)
        #expect(try self.error("\(Self.head)char a[] = {1,2,3,4};", limit: 18) == nil)
    }
}
