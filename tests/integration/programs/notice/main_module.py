"""The program's own names, the modules that are loaded, the built-in names."""

import sys as _sys

print("main", [(name, str(value).split(" at 0x")[0]) for name, value in sorted(vars().items())])
print("modules", sorted(_sys.modules))
print("builtins", sorted(vars(__builtins__)))
print("frames", _sys._getframe().f_back, _sys._getframe().f_code.co_name)
print(
    "hooks",
    _sys.excepthook is _sys.__excepthook__,
    _sys.displayhook is _sys.__displayhook__,
    _sys.meta_path,
    len(_sys.path_hooks),
    sorted(_sys.path_importer_cache),
)
