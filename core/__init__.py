"""core turns text into numbers: sentences, models' log-probabilities, statistics. No Streamlit, no SQL on labels."""

import sys

# Every door comes by here first. What several programs share is locked with flock, which Windows has not: one sentence
# for whoever starts it there, before the first import that would fail.
if sys.platform == "win32":
    raise SystemExit("Evenhand runs on Linux and macOS. On Windows, install and start it within WSL (`wsl --install`).")
