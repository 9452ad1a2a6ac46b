// SPDX-License-Identifier: Apache-2.0

/// The documents that every program in the comparison reads, one mebibyte each and identical in every run.
enum Documents {
    /// The name and the text of each document.
    static let all: [(name: String, text: String)] = [
        ("orders.json", Self.orders(indented: false)),
        ("indented.json", Self.orders(indented: true)),
        ("strings.json", Self.strings()),
        ("numbers.json", Self.numbers()),
        ("orders.xml", Self.ordersInXML()),
    ]

    private static let size = 1 << 20
    private static let names = ["Jane Doe", "Zoë Müller", "田中 太郎", "José García", "Ann O’Neil", "Bob"]
    private static let states = ["paid", "open", "shipped", "returned to sender"]
    private static let text = """
        The goods arrived in order and were signed for at the door by a neighbour; the box had been opened, and \
        somebody wrote “fragile” on it. 

        """

    /// Answers of a typical service: objects of short strings, numbers, truth values and nulls, partly beyond ASCII.
    private static func orders(indented: Bool) -> String {
        let (line, deep, end, colon) =
            indented ? ("\n    ", "\n      ", "\n  ", ": ") : ("", "", "", ":")
        return self.fill("[", indented ? ",\n  " : ",", "]") { number in
            let name = self.names[number % self.names.count]
            let state = self.states[number % self.states.count]
            return "{\(line)\"id\"\(colon)\(1_000_000 + number),\(line)\"customer\"\(colon)\"\(name)\","
                + "\(line)\"email\"\(colon)\"customer-\(number)@mail.example\",\(line)\"state\"\(colon)\"\(state)\","
                + "\(line)\"total\"\(colon)\(number % 900).\(number % 90 + 10),\(line)\"gift\"\(colon)\(number % 3 == 0),"
                + "\(line)\"note\"\(colon)\(number % 5 == 0 ? "\"say \\\"hello\\\"\\nand go\"" : "null"),"
                + "\(line)\"lines\"\(colon)[\(deep){\"sku\"\(colon)\"A-\(number * 7)\",\"count\"\(colon)\(number % 9)},"
                + "\(deep){\"sku\"\(colon)\"B-\(number * 11)\",\"count\"\(colon)1}\(line)],"
                + "\(line)\"at\"\(colon)\"2026-11-\(number % 20 + 10)T08:15:\(number % 50 + 10)Z\"\(end)}"
        }
    }

    /// Long texts.
    private static func strings() -> String {
        let text = self.text.replacing("\n", with: "")
        return self.fill("[", ",", "]") { number in
            "\"\(number): \(String(repeating: text, count: number % 7 + 1))\""
        }
    }

    /// Coordinates.
    private static func numbers() -> String {
        self.fill("[", ",", "]") { number in
            "[-\(number % 180).\(number % 9000 + 1_000_000),\(number % 90).\(number % 7000 + 20_000_000),\(number)]"
        }
    }

    private static func ordersInXML() -> String {
        self.fill("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<orders>\n", "\n", "\n</orders>\n") { number in
            """
              <order id="\(1_000_000 + number)" state="\(self.states[number % self.states.count])">
                <customer>\(self.names[number % self.names.count])</customer>
                <email>customer-\(number)@mail.example</email>
                <note>\(self.text)&lt;end&gt;</note>
                <line sku="A-\(number * 7)" count="\(number % 9)"/>
              </order>
            """
        }
    }

    private static func fill(
        _ start: String, _ separator: String, _ end: String, with element: (Int) -> String
    ) -> String {
        var text = start
        var number = 0
        while text.utf8.count < Self.size {
            if number > 0 { text += separator }
            text += element(number)
            number += 1
        }
        return text + end
    }
}
