"""The look of the comparison as HTML: both schemes of colours, wide, narrow and printed."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1a1a1a; --quiet: #5c5c5c; --line: #c9c9c9; --link: #0b57c2; --fill: #4a4a4a; --track: #e4e4e4;
  --grey: #ececec;
  --c1: #ffdcae; --c2: #c2e0ff; --c3: #c9f0c2; --c4: #f9cbe3;
  --c5: #fff0a3; --c6: #dacfff; --c7: #baf0e9; --c8: #e5decb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16171a; --ink: #e6e6e6; --quiet: #a3a3a3; --line: #45464a; --link: #8ab4f8;
    --fill: #c4c4c4; --track: #333438; --grey: #2b2c30;
    --c1: #5c3610; --c2: #0f3d66; --c3: #1c491d; --c4: #5d1d43;
    --c5: #4d4500; --c6: #3b2c73; --c7: #0c4a45; --c8: #4a4333;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 1.25rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
}
h1 { margin: 0 0 .75rem; font-size: 1.35rem; line-height: 1.3; }
a { color: var(--link); }
.numbers { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin: 0 0 .9rem; }
.numbers dt { color: var(--quiet); font-size: .85rem; }
.numbers dd { display: flex; align-items: center; gap: .6rem; margin: 0; font-size: 1.25rem; font-weight: 600; }
.bar { width: 7rem; height: .35rem; }
.bar .track { fill: var(--track); }
.bar .fill { fill: var(--fill); }
.chips { margin: 0 0 .7rem; padding: .2rem; font-size: .85rem; }
.chip {
  display: inline-block; margin: 0 .25rem .35rem 0; padding: .05rem .65rem; border: 1px solid var(--line);
  border-radius: 1rem; color: inherit; text-decoration: none;
}
.c1 { background: var(--c1); } .c2 { background: var(--c2); } .c3 { background: var(--c3); }
.c4 { background: var(--c4); } .c5 { background: var(--c5); } .c6 { background: var(--c6); }
.c7 { background: var(--c7); } .c8 { background: var(--c8); }
.boilerplate { background: var(--grey); color: var(--quiet); }
.text .boilerplate { padding: .1rem 0; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
.panes { display: grid; grid-template-columns: 1fr 5.5rem 1fr; gap: .5rem; }
.pane { min-width: 0; border: 1px solid var(--line); }
.pane h2 {
  margin: 0; padding: .35rem 1rem; border-bottom: 1px solid var(--line); background: var(--paper); font-size: .9rem;
  font-weight: 400; color: var(--quiet); overflow-wrap: anywhere;
}
.pane h2 b { margin-right: .4rem; color: var(--ink); }
.text { padding: .75rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.block { padding: 0 1rem; unicode-bidi: plaintext; content-visibility: auto; contain-intrinsic-size: auto 75rem; }
mark { padding: .1rem 0; color: inherit; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
mark.both { text-decoration: underline dotted; text-underline-offset: .2em; }
.n {
  display: inline-block; margin: 0 .25rem 0 .1rem; padding: 0 .4rem; border: 1px solid currentColor;
  border-radius: 1rem; color: inherit; font-size: .72rem; font-weight: 700; line-height: 1.25; text-decoration: none;
  unicode-bidi: isolate; scroll-margin: 4rem;
}
.n.again { border-style: dotted; font-weight: 400; }
.n.more:not(:target) { margin: 0; padding: 0; border: 0; font-size: 0; }
:target, a:focus-visible { outline: 2px solid var(--ink); outline-offset: 1px; }
details.fold { margin: .25rem 0; }
.fold summary { padding: 0 1rem; }
summary { color: var(--quiet); font-size: .85rem; cursor: pointer; }
.ribbons { width: 100%; height: 100%; min-height: 0; }
.ribbons path { stroke: var(--quiet); stroke-opacity: .5; vector-effect: non-scaling-stroke; }
.ribbons .c1 { fill: var(--c1); } .ribbons .c2 { fill: var(--c2); } .ribbons .c3 { fill: var(--c3); }
.ribbons .c4 { fill: var(--c4); } .ribbons .c5 { fill: var(--c5); } .ribbons .c6 { fill: var(--c6); }
.ribbons .c7 { fill: var(--c7); } .ribbons .c8 { fill: var(--c8); } .ribbons .boilerplate { fill: var(--grey); }
footer { margin-top: .9rem; color: var(--quiet); font-size: .8rem; }
@media screen and (min-width: 48rem) and (min-height: 30rem) {
  /* Each text scrolls by itself, and ends in space: else the last passages cannot be brought beside each other. */
  body { display: flex; flex-direction: column; height: 100vh; }
  .panes { flex: 1; min-height: 15rem; grid-template-rows: minmax(0, 1fr); }
  .pane { overflow: auto; }
  .pane h2 { position: sticky; top: 0; z-index: 1; }
  .text { padding-bottom: 40vh; }
  .chips { max-height: 25vh; overflow: auto; flex: none; }
}
@media (max-width: 48rem), print {
  .panes { display: block; }
  .pane { margin-bottom: 1rem; }
  .ribbons { display: none; }
}
@media print {
  body { padding: 0; font-size: 10pt; }
  mark, .chip, .boilerplate { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""
