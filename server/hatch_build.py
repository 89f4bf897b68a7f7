"""Puts the pages of the rules and the licence into the wheel.

In a checkout they stand beside this folder, in a source distribution inside it.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BesideTheServer(BuildHookInterface):  # type: ignore[type-arg]
    """Finds what belongs to the server but is not written in its folder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds what was found to what the wheel holds."""
        folder = Path(self.root)
        if (folder / "docs" / "rules").is_dir():  # hatchling takes the licence along by itself
            build_data["force_include"][str(folder / "docs" / "rules")] = "device_lens/pages"
            return
        information = f"{self.build_config.builder.artifact_project_id}.dist-info"
        build_data["force_include"] |= {
            str(folder.parent / "docs" / "rules"): "device_lens/pages",
            str(folder.parent / "LICENSE"): f"{information}/licenses/LICENSE",
        }
