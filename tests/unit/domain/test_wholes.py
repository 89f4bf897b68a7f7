"""The modules that an unknown may be one of."""

from device_lens.domain.heap import ModuleObject
from device_lens.domain.join import join_all, join_blind
from device_lens.domain.similarity import similar
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import WHOLE, External, Unknown
from device_lens.domain.wholes import MAX_TOLD_APART, Crowd, each_once, members


def modules(count: int) -> list[ModuleObject]:
    return [ModuleObject(External("torch.nn.Linear"), None) for _ in range(count)]


def test_each_is_there_once_in_order() -> None:
    a, b, c = modules(3)
    assert each_once([a, (b, (a, c)), None]) == (a, b, c)


def test_a_group_that_has_all_of_them_is_the_answer() -> None:
    a, b = modules(2)
    group = (a, b)
    assert each_once([b, group, a]) is group
    assert each_once([(a, a), b]) == (a, b)
    assert each_once([((a, b), a), b]) == (a, b)


def test_many_share_one_crowd() -> None:
    first = modules(MAX_TOLD_APART + 1)
    crowd = each_once(first)
    assert isinstance(crowd, Crowd)
    late = modules(2)
    assert each_once([crowd, late[0]]) is crowd
    assert each_once([(late[1],), crowd, first[3]]) is crowd
    assert list(crowd) == [*first, *late]


def test_two_crowds_become_one() -> None:
    first, second = modules(MAX_TOLD_APART + 1), modules(MAX_TOLD_APART + 1)
    crowd = each_once([each_once(first), each_once(second)])
    assert set(map(id, crowd)) == set(map(id, [*first, *second]))


def test_joining_many_modules_time_and_again_ends_in_one_value() -> None:
    either = Unknown()
    for module in modules(500):
        either = join_blind(join_blind(either, module), module)
    assert either.fields is not None
    whole = either.fields[WHOLE]
    assert isinstance(whole, Crowd)
    assert len(list(whole)) == 500


def test_many_at_once_are_what_one_after_another_makes_of_them() -> None:
    found = modules(MAX_TOLD_APART + 3)
    for some in (found, [Unknown(), *found], [*found[:2], Unknown(), *found[2:9]]):
        at_once, one_by_one = join_all(some), some[0]
        for each in some[1:]:
            one_by_one = join_blind(one_by_one, each)
        assert type(at_once) is type(one_by_one) is Unknown
        assert {*map(id, members(at_once.parts()[WHOLE]))} == {
            *map(id, members(one_by_one.parts()[WHOLE]))
        }


def test_each_member_of_groups_within_groups_comes_once() -> None:
    a, b, c = modules(3)
    group = (a, b)
    assert [*members((group, (c, group), a, None))] == [a, b, c]


def test_histories_say_nothing_of_devices() -> None:
    site = Site("a.py", None, object())
    assert similar(Trail("moved", "to cuda", site), Trail("moved", "to cuda", site))
