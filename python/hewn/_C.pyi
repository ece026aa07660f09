# hewn._C is written in C++ (python/src); the package gives what is in it its types.
from typing import Any

version: str

def __getattr__(name: str) -> Any: ...
