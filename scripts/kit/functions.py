# SPDX-License-Identifier: Apache-2.0
"""The functions of a program that ran most often, from callgrind's files; `scripts/order` asks.

usage: functions.py PROGRAM FILE...

Prints their names, as the linker knows them, one in each line: those that most kinds of traffic share come first, and among
these those that were called most often.
"""

import collections
import re
import sys

program, *files = sys.argv[1:]

# Rarer ones than this share of a file's calls would only spread the others over more lines of the cache.
RAREST = 1 / 20_000


def calls(path):
    """How often each function of the program was called, by callgrind's format (callgrind-format in valgrind's manual)."""
    names, objects = {}, {}
    found = collections.Counter()

    def resolve(table, text):
        # "(3) name" tells a name and its number, "(3)" repeats it.
        number, name = re.fullmatch(r"\((\d+)\)(?: (.*))?", text).groups()
        if name:
            table[number] = name
        return table[number]

    callee = callee_object = None
    own_object = None
    with open(path) as file:
        for line in file:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                own_object = resolve(objects, value)
            elif key == "fn":
                resolve(names, value)
                callee_object = own_object
            elif key == "cob":
                callee_object = resolve(objects, value)
            elif key == "cfn":
                callee = resolve(names, value)
            elif key == "calls":
                if callee_object == program:
                    found[callee.split("'")[0]] += int(value.split()[0])
                callee_object = own_object
    return found


kinds = [calls(path) for path in files]
shares = collections.defaultdict(list)
for kind in kinds:
    total = sum(kind.values())
    for name, count in kind.items():
        if count / total >= RAREST:
            shares[name].append(count / total)
for name in sorted(shares, key=lambda name: (-len(shares[name]), -sum(shares[name]), name)):
    print(name)
