"""What any further item of a list is where chance has decided of each of them where it is."""

from __future__ import annotations

from device_lens.domain.device import Device, DeviceTree, is_unknown
from device_lens.domain.guard import Guarded, atoms, leaves, node
from device_lens.domain.values import Tensor
from device_lens.models.agreement import Placed
from device_lens.models.call import Value

DRAWN_APART = "<drawn apart>"
"""The field of a list that tells whether several draws have placed its further items: one of which
a single draw has placed all of them has them in one place."""


def grows_apart(rest: Value, added: Value, together: Value) -> bool:
    """Whether a list gets an item that another draw has placed than those before: what stands for
    all of them is somewhere unknown where the draws disagree."""
    if not type(rest) is type(added) is type(together) is Tensor:
        return False
    if not any(atom.is_drawn for atom in atoms(together.device)):
        return False
    before = (*leaves(rest.device), *leaves(added.device))
    return any(map(is_unknown, leaves(together.device))) and not any(map(is_unknown, before))


def each_drawn(placed: Placed) -> tuple[Placed, ...]:
    """The items for which one of such a list stands: two that are apart, since they are together
    only where all draws came out alike."""
    tensor, _, place = placed
    if type(tensor.device) is not Guarded:
        return (placed,)
    one, other = _two(tensor.device)
    if one is tensor.device:
        return (placed,)
    found = (tensor.with_(device=device, trail=None) for device in (one, other))
    return tuple((each, each, place) for each in found)


def _two(tree: DeviceTree) -> tuple[DeviceTree, DeviceTree]:
    """Where two of the items are that draws have put in different places, the tree itself twice
    where there are none. What draws disagree on is not known in a list's tree."""
    if type(tree) is not Guarded:
        return tree, tree
    if not tree.atom.is_drawn:
        yes, no = _two(tree.yes), _two(tree.no)
        if yes[0] is tree.yes and no[0] is tree.no:
            return tree, tree
        return node(tree.atom, yes[0], no[0]), node(tree.atom, yes[1], no[1])
    ends, drawn = list(leaves(tree)), atoms(tree)
    known = [each for each in ends if isinstance(each, Device)]
    if len(drawn) < 2 or not all(each.is_drawn for each in drawn) or len(known) < 2:
        return tree, tree
    others = [each for each in known if each != known[0]]
    if not others or not any(map(is_unknown, ends)):
        return tree, tree
    return known[0], others[0]
