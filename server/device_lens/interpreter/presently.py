"""What the text around the present statement tells of it."""

from __future__ import annotations

import ast
from typing import Any

from device_lens.interpreter import dimensions, lazily
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.read_up import is_read_up
from device_lens.interpreter.services import argument_node


class Presently:
    """What a machine knows of the statement that runs."""

    stack: list[Frame]

    def may_be_left_out(self) -> bool:
        """Whether a pass of the loop that runs may leave the present statement out."""
        return bool(self.stack) and self.stack[-1].may_be_left_out

    def is_in_each_pass(self) -> bool:
        """Whether every pass of a loop runs the present statement."""
        return bool(self.stack) and self.stack[-1].is_in_each_pass

    def made_lazily(self: Any, value: Any) -> None:
        lazily.applied(self, value)

    def took_no_tensor(self: Any, position: int | str) -> None:
        """Remembers that what is written there is no tensor at times."""
        node, _ = self.active_place()
        written = None if node is self.lent else argument_node(node, position)
        if written is not None and type(written) is not ast.Constant:
            self.findings.no_tensors.add(written)

    def has_dimensions(self: Any, position: int | str) -> None:
        """Tells that what is written there has dimensions."""
        node, frame = self.active_place()
        if node is not self.lent:
            dimensions.told(self, argument_node(node, position), frame)

    def is_read_up(self, node: Any) -> bool:
        """Whether the present statement asks for all that an expression in it gives one by one."""
        return bool(self.stack) and is_read_up(node, self.stack[-1])
