"""Arithmetic on numbers of bounded size, for evaluating expressions written by models."""

Number = int | float

_MAX_DIGITS = 1_000
_MAX_BITS = 2_048


def power(base: Number, exponent: Number) -> Number:
    """Return ``base ** exponent``.

    Raises:
        OverflowError: if the result is too large for a float, or is an integer of more than about 2,048 bits.
        ZeroDivisionError: for a negative power of 0.
    """
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        bits = base.bit_length() * exponent
        if bits > _MAX_BITS:
            raise OverflowError("power too large")
    return base**exponent


def rounded(value: Number, ndigits: int | None = None) -> Number:
    """Return ``round(value, ndigits)``; raise OverflowError if ``ndigits`` is above 1,000 or below -1,000."""
    if ndigits is not None and abs(ndigits) > _MAX_DIGITS:
        raise OverflowError("too many digits")
    return round(value, ndigits)
