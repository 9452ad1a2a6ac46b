# SPDX-License-Identifier: Apache-2.0
"""A covering array, made greedily: each row adds the value that meets most others for the first time."""

import itertools
import random

from combination_keys import Mark, together

# Keys whose triples are wanted, too.
NAMED = ("route.match", "trust.", "route.cache", "route.coalesce", "route.redirects", "route.request.serialize", "route.contract",
         "route.connect", "route.upstream", "route.strip_prefix", "upstream_proxy", "enforcement", "unpinned_hosts")


class Pairs:
    """Which values have met, and rows that let others meet. The same seed gives the same rows."""

    def __init__(self, marks: list[Mark], seed: int, width: int) -> None:
        self.marks, self.width, self.choose = marks, width, random.Random(seed)
        self.number = {mark: number for number, mark in enumerate(marks)}
        self.fits = [sum(1 << at for at, other in enumerate(marks) if together(mark, other)) for mark in marks]
        self.open = list(self.fits)
        self.refused: set[tuple[int, int]] = set()
        self.ran: set[tuple[int, int]] = set()
        self.total = self.left()

    def left(self) -> int:
        return sum(row.bit_count() for row in self.open) // 2

    def row(self) -> list[Mark]:
        order = list(range(len(self.marks)))
        self.choose.shuffle(order)
        first = max(order, key=lambda at: self.open[at].bit_count())
        if not self.open[first]:
            return []
        chosen, taken, fitting = [first], 1 << first, self.fits[first]
        while len(chosen) < self.width and fitting:
            best = max((at for at in order if fitting >> at & 1), key=lambda at: (self.open[at] & taken).bit_count())
            if not self.open[best] & taken and len(chosen) > 1:
                break
            chosen.append(best)
            taken |= 1 << best
            fitting &= self.fits[best]
        return [self.marks[at] for at in chosen]

    def plan(self, row: list[Mark]) -> None:
        """Takes a row's pairs as met while it runs, so that rows beside it look for others."""
        for one, other in itertools.combinations(row, 2):
            self.meet(self.number[one], self.number[other])

    def close(self, row: list[Mark], ran: list[Mark]) -> None:
        """Notes which values of a planned row ran together; the other pairs of the row were refused."""
        for one, other in itertools.combinations(row, 2):
            pair = tuple(sorted((self.number[one], self.number[other])))
            self.meet(*pair)
            if one in ran and other in ran:
                self.ran.add(pair)
            else:
                self.refused.add(pair)

    def retry(self) -> None:
        """Opens again what was refused: other keys of its row may have been the reason."""
        for one, other in self.refused - self.ran:
            self.open[one] |= 1 << other
            self.open[other] |= 1 << one

    def conflicts(self) -> int:
        """Pairs that were only ever refused."""
        return len(self.refused - self.ran)

    def meet(self, one: int, other: int) -> None:
        self.open[one] &= ~(1 << other)
        self.open[other] &= ~(1 << one)


def triples(marks: list[Mark], seed: int, width: int, rows: int) -> tuple[list[list[Mark]], int]:
    """Rows for triples of the keys that are named, of some candidates the one with most new triples; and how many triples they have."""
    named = [mark for mark in marks if mark.key.startswith(NAMED)]
    # Numbers take less time and memory than what they stand for.
    number = {mark: at for at, mark in enumerate(named)}
    choose, met, made = random.Random(seed), set(), []
    for _ in range(rows):
        best: tuple[set, list[Mark]] = (set(), [])
        for _ in range(8):
            choose.shuffle(named)
            row: list[Mark] = []
            for mark in named:
                if len(row) < width and all(together(mark, other) for other in row):
                    row.append(mark)
            new = set(itertools.combinations(sorted(map(number.get, row)), 3)) - met
            best = max(best, (new, row), key=lambda one: len(one[0]))
        met |= best[0]
        made.append(best[1])
    return made, len(met)
