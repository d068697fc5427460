"""Shows how today's answers differ from those recorded, or records them: python -m tests.recorded_answers --write.

With `--engine http://127.0.0.1:9200`, asks the questions that need an OpenSearch, instead of the others.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.recorded_answers.intended_differences import INTENDED
from tests.recorded_answers.recording import differences, read, write
from tests.recorded_answers.todays_answers import (
    ATTACHED,
    FILE,
    OPENSEARCH,
    answers_of_attached,
    answers_of_opensearch,
    todays_answers,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="record today's answers")
    parser.add_argument("--engine", metavar="URL", help="ask an engine, such as `winnow engine start` starts")
    options = parser.parse_args()
    if options.engine:
        of_opensearch = answers_of_opensearch(options.engine, read(FILE))
        today = {OPENSEARCH: of_opensearch, ATTACHED: answers_of_attached(options.engine)}
    else:
        with TemporaryDirectory() as folder:
            today = todays_answers(Path(folder), slow=True)
    found = False
    for name, answers in today.items():
        lines = differences(read(name), answers, [] if options.write else INTENDED.get(name, ()))
        for line in [f"{name}: {len(answers)} answers", *lines]:
            print(line)
        found = found or bool(lines)
        if options.write:
            write(name, answers)
    return 1 if found and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
