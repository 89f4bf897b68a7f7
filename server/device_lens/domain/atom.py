"""Atoms: what the analysis cannot decide, and a program's values hang on."""

from __future__ import annotations

from hashlib import blake2b
from itertools import count

_ORDER = count()
EITHER_WAY = "a random number decides"
"""What an atom says that a random number decides, anew each time."""
SOME_TURNS = "some turns of a loop and not others: "
"""How an atom begins that a test of a loop's turn decides, anew on each: it goes on with which."""
HOW_FAR = "how far a run is decides"
"""What an atom says that the number of a step or epoch decides: each way in its time."""
WHICH_ITEM = "which item has the number"
"""What an atom says that a number decides which is not known: a program need not take each."""

WHICH_COMES = "which item comes next"
"""The same where each comes at some time, as out of a queue: where a program asks which it is, the
one that it asks for comes there."""


class Atom:
    """A boolean that the analysis cannot decide, equal only to itself.

    `kind` says what decides it: `accelerator` (is one present), `flag` (a command-line flag),
    `environment`, or `path` (anything else: its text is no promise to a reader).
    `default` is its value in the primary case: accelerators exist, flags have their declared
    defaults, environment variables are unset; None where nothing is declared. Atoms come in the
    order in which they are made; those that are `shared` by all programs come before them, by
    their kinds and texts, so that no program's trees hang on what another one asked first.
    """

    __slots__ = ("default", "kind", "negative", "order", "text")

    def __init__(
        self,
        text: str,
        kind: str = "path",
        default: bool | None = None,
        negative: str = "",
        *,
        shared: bool = False,
    ) -> None:
        self.order = _order_of(text, kind) if shared else next(_ORDER)
        self.text = text
        self.kind = kind
        self.default = default
        self.negative = negative or f"not {text}"

    @property
    def named(self) -> bool:
        """Whether the atom's text means something to a reader of the program."""
        return self.kind != "path"

    @property
    def is_drawn(self) -> bool:
        """Whether a random number or a step's decides: either way is taken in a long run."""
        return self.text in (EITHER_WAY, HOW_FAR)

    @property
    def is_counted(self) -> bool:
        """Whether the number of a step or epoch decides, as others do that may be the same."""
        return self.text == HOW_FAR

    @property
    def is_of_turn(self) -> bool:
        """Whether the turn of a loop decides."""
        return self.text.startswith(SOME_TURNS)

    @property
    def goes_both_ways(self) -> bool:
        """Whether either way is taken in a long run."""
        return self.is_drawn or self.is_of_turn

    @property
    def tells_items_apart(self) -> bool:
        """Whether a number decides that may stand for some of the items alone."""
        return self.text in (WHICH_ITEM, WHICH_COMES)

    def __repr__(self) -> str:
        return f"Atom({self.text or self.order})"


def atoms_before() -> int:
    """A number that comes after the order of each atom made before, and before that of others."""
    return next(_ORDER)


_SHARED: dict[str, Atom] = {}
MOST_SHARED = 2_048
"""Atoms that all who ask for them share."""


def shared_atom(
    text: str, kind: str = "path", default: bool | None = None, negative: str = ""
) -> Atom:
    """The one atom with a text, for what is the same wherever a program asks."""
    atom = _SHARED.get(text)
    if atom is None:
        shared = len(_SHARED) < MOST_SHARED
        atom = Atom(text, kind, default, negative, shared=shared)
        if shared:
            _SHARED[text] = atom
    return atom


_RANKS = ("accelerator", "environment", "flag", "path")
"""The order in which a condition tells atoms of these kinds, where they are shared."""


def _order_of(text: str, kind: str) -> int:
    """A number below 0 for a text, the same in every process: that of its first bytes, so that a
    reader finds conditions in alphabetical order, and of all of it."""
    encoded = text.encode("utf-8", "surrogatepass")
    number = int.from_bytes(
        encoded[:16].ljust(16) + blake2b(encoded, digest_size=8).digest(), "big"
    )
    return number - ((len(_RANKS) - _RANKS.index(kind)) << 192)
