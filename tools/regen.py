"""Write every generated file, or say with ``--check`` which of them are stale.

A part is a script ``tools/gen_NAME.py`` with a function ``generate()`` that returns the text of
each of its files by its path from the root of the repository. Parts run in the order of their
names, and each sees the files that the parts before it wrote. Once a part wrote code, all begin
again in a new process, as this one may have imported what stood there before.

    python tools/regen.py [--check] [NAME ...]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def parts() -> list[str]:
    """Return the names of all parts, in the order in which they run."""
    return sorted(path.stem.removeprefix("gen_") for path in ROOT.glob("tools/gen_*.py"))


def stale(name: str) -> dict[Path, str]:
    """Return the files of a part that differ from what stands on disk, with their new text."""
    files: dict[str, str] = import_module(f"tools.gen_{name}").generate()
    fresh = {ROOT / path: text for path, text in files.items()}
    return {path: text for path, text in fresh.items() if not path.exists() or path.read_text("utf-8") != text}


def main() -> int:
    """Run the command line and return its exit status: 1 if ``--check`` finds a stale file."""
    parser = argparse.ArgumentParser(description="Write the generated files.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is stale")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these parts (of {', '.join(parts())})")
    options = parser.parse_args()
    if unknown := set(options.names) - set(parts()):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts())}")
    found, code = 0, False
    for name in options.names or parts():
        for path, text in stale(name).items():
            found += 1
            print(f"{'stale' if options.check else 'wrote'}: {path.relative_to(ROOT)}", flush=True)
            if not options.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
                code |= path.suffix == ".py"
        if code:
            return subprocess.call([sys.executable, __file__, *options.names])
    if options.check and found:
        print("run: python tools/regen.py")
    return int(options.check and found > 0)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
