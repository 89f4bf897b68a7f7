"""Objects that stand for several others."""

import ast

from device_lens.domain.heap import DictObject
from device_lens.domain.join import join_blind
from device_lens.domain.objects import MOST_KEPT, stands_for
from device_lens.domain.values import Const, Unknown


def _dict(number: int) -> DictObject:
    return DictObject({"rate": Const(number)}, None, ast.Dict())


def test_one_dict_stands_for_each_of_several() -> None:
    several = [_dict(number) for number in range(4)]
    found = join_blind(join_blind(several[0], several[1]), join_blind(several[2], several[3]))
    assert isinstance(found, DictObject)
    assert {id(each) for each in stands_for(found)} == {id(each) for each in several}


def test_what_stands_for_too_many_is_not_known() -> None:
    """What is done to one dict is done to all for which it stands: a loop that copies what it has
    made doubles them in each pass."""
    found = join_blind(_dict(0), _dict(1))
    for number in range(2, MOST_KEPT):
        found = join_blind(found, _dict(number))
    assert isinstance(found, DictObject)
    assert len(stands_for(found)) == MOST_KEPT
    assert type(join_blind(found, _dict(MOST_KEPT))) is Unknown
