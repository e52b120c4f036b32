"""Builds PufferLib's CartPole in place from its source package. Its own build downloads libraries for the browser and for other games;
they are left out: empty folders stand in for them, and every other game's binding is removed. Arguments: source folder, python."""

import os
import pathlib
import subprocess
import sys


def main():
    source, python = sys.argv[1:]
    root = pathlib.Path(source)
    for name in ("raylib-5.5_webassembly", "box2d-web", "box2d-linux-amd64"):
        (root / name).mkdir(exist_ok=True)
    for binding in (root / "pufferlib" / "ocean").glob("**/binding.c"):
        if binding.parent.name != "cartpole":
            binding.unlink()
    # NO_TRAIN: no torch extension, which only its trainer needs.
    env = {**os.environ, "NO_TRAIN": "1"}
    subprocess.run([python, "setup.py", "build_ext", "--inplace"], cwd=root, env=env, check=True)


if __name__ == "__main__":
    main()
