// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import PintleActivity
import Testing

@Suite struct LineLogHandlerTests {
    private func logger(_ pipe: Pipe, _ format: LogFormat, level: Logger.Level = .info) -> Logger {
        Logger(label: "test") { _ in
            LineLogHandler(
                format: format, level: level, descriptor: pipe.writing,
                now: { Timestamp(milliseconds: 1_767_323_045_678) })
        }
    }

    @Test func `a transition is one line of text`() throws {
        let pipe = try Pipe()
        self.logger(pipe, .text, level: .debug).log(transition: .init(from: .notActive, to: .delayingStart))
        #expect(pipe.text() == "2026-01-02T03:04:05.678Z debug activity.state from=not_active to=delaying_start\n")
    }

    @Test func `a transition is one line of JSON`() throws {
        let pipe = try Pipe()
        self.logger(pipe, .json, level: .debug).log(transition: .init(from: .delayingEnd, to: .active))
        #expect(
            pipe.text()
                == #"{"time":"2026-01-02T03:04:05.678Z","level":"debug","message":"activity.state","#
                + #""from":"delaying_end","to":"active"}"# + "\n")
    }

    @Test func `LOOK-52 a step of the activity machine is no news for an operator`() throws {
        let pipe = try Pipe()
        self.logger(pipe, .text).log(transition: .init(from: .notActive, to: .delayingStart))
        self.logger(pipe, .text).info("next")
        #expect(pipe.text() == "2026-01-02T03:04:05.678Z info  next\n")
    }

    @Test func `LOOK-52 counters that are not zero are logged overall and per route`() throws {
        let counters = Counters(routes: ["a b", "idle"])
        counters[0].started()
        counters[0].violated(.bodyTooLarge)
        let pipe = try Pipe()
        self.logger(pipe, .text).log(counters: counters.snapshot())
        #expect(
            pipe.text()
                == "2026-01-02T03:04:05.678Z info  activity.counters active=1 \"routes.a b.active\"=1 "
                + "\"routes.a b.started\"=1 \"routes.a b.violations.body-too-large\"=1 started=1 "
                + "violations.body-too-large=1\n")
        self.logger(pipe, .json).log(counters: counters.snapshot())
        #expect(
            pipe.text().hasSuffix(
                #""message":"activity.counters","active":1,"routes":{"a b":{"active":1,"started":1,"#
                    + #""violations":{"body-too-large":1}}},"started":1,"violations":{"body-too-large":1}}"# + "\n"))
        self.logger(pipe, .text).log(counters: Counters(routes: []).snapshot())
        #expect(pipe.text() == "2026-01-02T03:04:05.678Z info  activity.counters\n")
    }

    @Test func `questions are logged beside the counters`() throws {
        let counters = Counters(routes: [])
        var questions = QuestionCounts()
        questions.waiting = 2
        questions.close(as: .withdrawn)
        counters.questions.set(questions)
        let pipe = try Pipe()
        self.logger(pipe, .text).log(counters: counters.snapshot())
        #expect(
            pipe.text()
                == "2026-01-02T03:04:05.678Z info  activity.counters questions_waiting=2 questions_withdrawn=1\n")
    }

    @Test func `every kind of value has its place`() throws {
        let pipe = try Pipe()
        let metadata: Logger.Metadata = [
            "a": .array(["x", "y z"]), "b": .stringConvertible(true), "c": .stringConvertible(1.5),
            "d": .dictionary(["e": .dictionary(["f": "g"])]), "empty": [:], "n": .stringConvertible(-7),
        ]
        self.logger(pipe, .text).info("m", metadata: metadata)
        #expect(pipe.text() == "2026-01-02T03:04:05.678Z info  m a=\"x,y z\" b=true c=1.5 d.e.f=g n=-7\n")
        self.logger(pipe, .json).info("m", metadata: metadata)
        #expect(
            pipe.text()
                == #"{"time":"2026-01-02T03:04:05.678Z","level":"info","message":"m","a":["x","y z"],"b":true,"#
                + #""c":1.5,"d":{"e":{"f":"g"}},"empty":{},"n":-7}"# + "\n")
    }

    @Test func `nothing breaks out of its line`() throws {
        let pipe = try Pipe()
        let hostile = "x\n2026 error \u{1b}[2J\"\u{7f}"
        self.logger(pipe, .text).error("\(hostile)", metadata: ["k\n": "\(hostile)"])
        #expect(
            pipe.text()
                == #"2026-01-02T03:04:05.678Z error x\n2026 error \u001b[2J"\u007f "#
                + #""k\n"="x\n2026 error \u001b[2J\"\u007f""# + "\n")
        self.logger(pipe, .json).error("\(hostile)", metadata: ["k\n": "\(hostile)"])
        #expect(
            pipe.text()
                == #"{"time":"2026-01-02T03:04:05.678Z","level":"error","#
                + #""message":"x\n2026 error \u001b[2J\"\u007f","k\n":"x\n2026 error \u001b[2J\"\u007f"}"# + "\n")
    }

    @Test func `LOOK-50 sentences of the text log have their quotation marks as they are`() throws {
        let pipe = try Pipe()
        let sentence = #"unknown key "alow"; did you mean "allow"?"#
        self.logger(pipe, .text).error("\(sentence)", metadata: ["a": "\(sentence)", "b": "it's \"b\"", "c": "'d"])
        #expect(
            pipe.text()
                == "2026-01-02T03:04:05.678Z error \(sentence) a='\(sentence)' b=\"it's \\\"b\\\"\" c=\"'d\"\n")
    }

    @Test func `metadata of the call wins over the provider's, which wins over the logger's`() throws {
        let pipe = try Pipe()
        var logger = Logger(label: "test") { _ in
            var handler = LineLogHandler(
                format: .text, level: .info, descriptor: pipe.writing, now: { Timestamp(milliseconds: 0) })
            handler.metadataProvider = Logger.MetadataProvider { ["b": "provider", "c": "provider"] }
            return handler
        }
        logger[metadataKey: "a"] = "logger"
        logger[metadataKey: "b"] = "logger"
        logger.warning("m", metadata: ["c": "call"])
        #expect(pipe.text() == "1970-01-01T00:00:00.000Z warning m a=logger b=provider c=call\n")
        #expect(logger[metadataKey: "a"] == "logger")
    }

    @Test func `messages below the level are not written`() throws {
        let pipe = try Pipe()
        let logger = self.logger(pipe, .text, level: .warning)
        logger.info("low")
        logger.critical("high")
        #expect(pipe.text() == "2026-01-02T03:04:05.678Z critical high\n")
    }

    @Test func `a reader that went away does no harm`() throws {
        let pipe = try Pipe()
        let logger = self.logger(pipe, .text)
        pipe.closeReading()
        logger.info("one")
        logger.info("two")
    }

    @Test func `a line torn by a full pipe does not run into the next one`() throws {
        let pipe = try Pipe()
        try #require(fcntl(pipe.writing, F_SETFL, O_NONBLOCK) == 0)
        let logger = self.logger(pipe, .text)
        // Longer than any pipe is deep by default.
        let long = String(repeating: "x", count: 1 << 20)
        logger.info("m", metadata: ["long": "\(long)"])
        let torn = pipe.text()
        #expect(torn.hasPrefix("2026-01-02T03:04:05.678Z info  m long=xxx"))
        #expect(torn.hasSuffix("x"))
        logger.info("next")
        logger.info("last")
        #expect(
            pipe.text()
                == "\n2026-01-02T03:04:05.678Z info  next\n2026-01-02T03:04:05.678Z info  last\n")
    }

    @Test(arguments: [
        ("trace", Logger.Level.trace), ("debug", .debug), ("info", .info), ("notice", .notice), ("warn", .warning),
        ("warning", .warning), ("error", .error), ("critical", .critical), ("INFO", nil), ("", nil),
    ])
    func `a level is read from its name`(name: String, level: Logger.Level?) {
        #expect(Logger.Level(configuration: name) == level)
    }

    @Test func `loggers follow the level of the process, unless they have one of their own`() throws {
        let pipe = try Pipe()
        let threshold = LogThreshold(.notice)
        let writer = LogWriter(borrowing: pipe.writing)
        let logger = Logger(label: "test") { _ in LineLogHandler(format: .text, threshold: threshold, writer: writer) }
        var own = logger
        own.logLevel = .error
        logger.info("early")
        threshold.level = .debug
        logger.debug("seen")
        own.warning("unseen")
        threshold.level = .critical
        logger.error("late")
        own.error("own")
        #expect(writer.flush(within: .seconds(60)))
        #expect(pipe.text().split(separator: "\n").map { $0.split(separator: " ").last } == ["seen", "own"])
    }

    @Test func `a terminal gets the time of day, and the level in its colour`() throws {
        for (style, level) in [(TerminalStyle.plain, "warning"), (.coloured, "\u{1B}[33mwarning\u{1B}[0m")] {
            let pipe = try Pipe()
            let writer = LogWriter(borrowing: pipe.writing)
            let logger = Logger(label: "test") { _ in
                LineLogHandler(format: .text, onTerminal: style, threshold: LogThreshold(.info), writer: writer)
            }
            logger.warning("a \u{1B}[2J", metadata: ["key": "v w"])
            #expect(writer.flush(within: .seconds(60)))
            let line = pipe.text()
            #expect(line.hasSuffix("  \(level)  a \\u001b[2J key=\"v w\"\n"), "\(line)")
            #expect(line.contains(/\d\d:\d\d:\d\d/) && !line.contains("Z "), "\(line)")
        }
    }

    @Test func `a format is read from its name`() {
        #expect(LogFormat(rawValue: "text") == .text)
        #expect(LogFormat(rawValue: "json") == .json)
        #expect(LogFormat(rawValue: "xml") == nil)
    }
}
