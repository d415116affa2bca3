"""Options of a benchmark that offers tools: ``add_<name>_tool`` for each that there is, and their limits."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveInt, create_model

from medtasks_utils.benchmarks.options import Options
from medtasks_utils.tools import TOOLS
from medtasks_utils.tools.tool import Tool

_SWITCHES: dict[str, Any] = {
    f"add_{name}_tool": (bool, Field(False, description=f"let the model {kind.offers}")) for name, kind in TOOLS.items()
}


class ToolOptions(create_model("Switches", __base__=Options, **_SWITCHES)):  # type: ignore[misc]
    """Options of a benchmark with tools."""

    needs: ClassVar = {
        **dict.fromkeys(("max_turns", "tool_format"), " or ".join(f"{name}=true" for name in _SWITCHES)),
        **dict.fromkeys(("tool_timeout", "weak_sandbox"), "add_python_tool=true"),
    }

    max_turns: PositiveInt = 20
    """replies of the model per example, at most, when it has tools"""
    tool_format: Literal["auto", "native", "text"] = "auto"
    """native, by the server's or the chat template's own function calls; text; auto, native where it is possible"""
    tool_timeout: float = Field(10.0, gt=0, allow_inf_nan=False)
    """seconds for one call of the Python tool"""
    weak_sandbox: bool = False
    """where the kernel cannot confine the Python tool: accept RestrictedPython, which is no boundary"""

    @property
    def tools(self) -> list[type[Tool]]:
        """The tools that are on."""
        return [kind for name, kind in TOOLS.items() if getattr(self, f"add_{name}_tool")]
