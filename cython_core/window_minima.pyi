from array import array

from typing_extensions import Buffer

def window_minima(hashes: Buffer, w: int, *, robust: bool = True) -> array[int]: ...
