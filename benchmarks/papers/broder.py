"""The experiments of Broder, Glassman, Manasse and Zweig: the errors of sketches, super shingles, and clusters."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.papers.broder_cluster_parts import cluster_parts
from benchmarks.papers.broder_sketch_parts import sketch_parts
from benchmarks.papers.part import Part
from benchmarks.papers.run import PaperRun

TITLE = "Syntactic Clustering of the Web (1997)"
INTRODUCTION = """\
Broder, Glassman, Manasse and Zweig, SRC Technical Note 1997-015. The paper hashes runs of ten words (shingles), keeps
those that are 0 modulo 25 (the sketch), and clusters the pages whose sketches say that they resemble each other by
half or more. All parts below do the same unless they say otherwise.

The paper clusters 30 million pages of 1996, which nobody has any more. The pages here are real, but they are sites in
several releases, chosen because their versions resemble each other. So rates and errors can be compared, and the shares
of duplicates cannot. The paper states a theorem about its estimates and prints no errors: theory stands beside them."""


def parts(run: PaperRun) -> Iterator[Part]:
    corpus = "public" if run.quick else "whole"
    yield from sketch_parts(run, corpus)
    yield from cluster_parts(run, corpus)
