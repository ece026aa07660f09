"""A pruner's state as a table."""

from __future__ import annotations

import html
from typing import Any, List, Sequence, Tuple


class Table:
    """Rows under headings: plain text in a terminal, HTML in a notebook."""

    def __init__(self, title: str, heads: Sequence[str], rows: List[Tuple[Any, ...]]):
        self.title = title
        self.heads = list(heads)
        self.rows = rows

    def __repr__(self) -> str:
        cells = [self.heads] + [[str(cell) for cell in row] for row in self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.heads))]
        lines = [self.title]
        for row in cells:
            first = row[0].ljust(widths[0])
            lines.append("  ".join([first] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Sequence[Any]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line("td", row) for row in self.rows)
        return f"<table><caption>{html.escape(self.title)}</caption>{line('th', self.heads)}{body}</table>"
