"""Case-insensitive patterns for the marks that open and close a model's reasoning.

Think tags are also read by :mod:`.think`.
"""

TOKENS_AT_START = (
    r"[\[◁]think[\]▷]|<seed:think>|<\|channel\|>analysis(?:<\|message\|>)?|<\|channel>thought|<\|START_THINKING\|>"
    r"|<\|inner_prefix\|>|<unused94>(?:thought)?|<\|im_start\|>think\b|<\|open\|>think<\|sep\|>"
)
WORDS_AT_START = r"<(?:thinking|thought|reasoning|reflection|scratchpad)>|<\|begin_of_thought\|>"
AT_END = (
    r"</seed:think>|[\[◁]/think[\]▷]|</(?:thinking|thought|reasoning|reflection|analysis|scratchpad)>|<\|end_of_thought\|>"
    r"|<\|begin_of_solution\|>|<channel\|>|<\|END_THINKING\|>|<\|inner_suffix\|>|<unused95>|<\|im_start\|>answer\b"
    r"|<\|close\|>think<\|sep\|>|\[BEGIN FINAL RESPONSE\]|<\|channel\|>final(?:<\|message\|>)?"
    r"|(?<=\S)assistantfinal(?-i:(?![a-z]))"
)
SIGNS = ("<|", "</", "<t", "<r", "<s", "<unused", "<channel", "[think", "[/", "[begin", "◁", "assistantfinal")
"""Strings in lower case, one of which every mark contains."""
