#!/usr/bin/env python3
"""Makes the pictures of `weir ui` in the docs from screenshots of its pages with made-up content.

  .ci/pages && python3 docs/pictures/pages.py FOLDER-OF-SCREENSHOTS

Needs Pillow (pip install pillow). Keeps what fits into a window, with 64 colours. Writes beside this file.
"""

import pathlib
import sys

import PIL.Image

HERE = pathlib.Path(__file__).resolve().parent
WINDOW = (1280, 900)

for name in ["today-light", "session-light", "entry-dark"]:
    picture = PIL.Image.open(pathlib.Path(sys.argv[1]) / f"{name}.png").convert("RGB").crop((0, 0, *WINDOW))
    picture.quantize(64).save(HERE / f"{name}.png", optimize=True)
