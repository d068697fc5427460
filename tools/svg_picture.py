"""Small SVG pictures for light and dark pages, without scripts or external files."""

from __future__ import annotations

from html import escape

# The picture has its own background, because a page can be dark while the system setting is light.
STYLE = """
text { font: 15px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
svg { --paper: #fff; --ink: #1a1a1a; --quiet: #5c5c5c; --rule: #d5d5d5; --mark: #0b57c2; --tint: #d8e6fb;
  --warm: #a34700; --a: #0b57c2; --b: #a34700; --c: #1b7a3d; }
@media (prefers-color-scheme: dark) { svg { --paper: #16181c; --ink: #ececec; --quiet: #a9adb5; --rule: #3b3f47;
  --mark: #86b4ff; --tint: #22375a; --warm: #ffb27a; --a: #86b4ff; --b: #ffb27a; --c: #7fd39b; } }
.paper { fill: var(--paper); }
.mono { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.quiet { fill: var(--quiet); font-size: 14px; }
.strong { font-weight: 700; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.cell { fill: none; stroke: var(--rule); }
.cell.pick { fill: var(--tint); stroke: var(--mark); stroke-width: 2; }
.cell.shared { fill: var(--tint); }
.number { font-size: 12px; }
.number.faint { fill: var(--quiet); }
.number.pick { font-weight: 700; }
.grid { stroke: var(--rule); stroke-width: 2; stroke-dasharray: 4 4; }
.window { stroke: var(--quiet); stroke-width: 2; }
.arrowhead { stroke: var(--quiet); stroke-width: 2; fill: none; }
.link { stroke: var(--mark); stroke-width: 2.5; fill: none; }
.frame { fill: none; stroke: var(--warm); stroke-width: 2.5; }
.curve { stroke: var(--warm); stroke-width: 2.5; fill: none; }
.dot { fill: var(--mark); }
.box { fill: var(--tint); stroke: none; }
.ball { fill: var(--paper); stroke-width: 3; }
"""


class Picture:
    """Collects shapes in drawing order and writes them as SVG. `look` names CSS classes of STYLE."""

    def __init__(self, width: int, height: int, title: str, description: str, style: str = STYLE) -> None:
        self._size = width, height
        self._style = style
        self._title, self._description = title, description
        self._shapes: list[str] = []

    def text(self, x: float, y: float, words: str, look: str = "") -> None:
        self._shapes.append(f'<text x="{x:g}" y="{y:g}" class="{look}" xml:space="preserve">{escape(words)}</text>')

    def label(self, x: float, y: float, words: str) -> None:
        self.text(x, y, words, "strong")

    def cell(self, x: float, y: float, width: float, words: str, look: str = "") -> None:
        """Draw a cell with a letter or a number in it."""
        self._shapes.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="28" class="cell {look}"/>')
        kind = "number" if words.isdigit() else "mono"
        self.text(x + width / 2, y + 19, words, f"{kind} middle {look}")

    def line(self, x: float, y: float, to_x: float, to_y: float, look: str) -> None:
        self._shapes.append(f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}" class="{look}"/>')

    def path(self, points: list[tuple[float, float]], look: str) -> None:
        joined = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._shapes.append(f'<polyline points="{joined}" class="{look}"/>')

    def dot(self, x: float, y: float, radius: float = 3.5) -> None:
        self._shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="dot"/>')

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        self._shapes.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" class="frame"/>')

    def box(self, x: float, y: float, width: float, height: float) -> None:
        self._shapes.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" class="box"/>')

    def arrow(self, x: float, y: float, to_x: float) -> None:
        self._shapes.append(f'<path d="M{x:g} {y:g} H{to_x:g} m-7 -6 l7 6 l-7 6" class="link"/>')

    def ball(self, x: float, y: float, name: str, colour: int, *, ring: bool) -> None:
        """Draw a page in one of three colours; `ring` marks a representative."""
        stroke = ("var(--a)", "var(--b)", "var(--c)")[colour]
        for radius in (24, 18) if ring else (24,):
            self._shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" class="ball" style="stroke: {stroke}"/>')
        self.text(x, y + 5, name, "strong middle")

    def svg(self) -> str:
        width, height = self._size
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
                f"<title>{escape(self._title)}</title>",
                f"<desc>{escape(self._description)}</desc>",
                f"<style>{self._style}</style>",
                f'<rect width="{width}" height="{height}" rx="10" class="paper"/>',
                *self._shapes,
                "</svg>\n",
            ]
        )
