"""Draws time and size of a weight against its density as an SVG."""

DENSE, PANELS, ROWS = "#8c8c8c", "#c0392b", "#2a7ab0"
WIDTH, HEIGHT, TOP, BOTTOM = 860, 360, 56, 50
PLOT = 330  # width of one of the two


def axes(left, title, unit, high, step, digits):
    x = lambda density: left + PLOT * density
    y = lambda value: TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / high)
    out = [f'<text x="{left}" y="{TOP - 12}">{title}</text>']
    value = 0.0
    while value <= high * 1.0001:
        out.append(f'<line x1="{left}" x2="{left + PLOT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#e4e4e4"/>'
                   f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.{digits}f} {unit}</text>')
        value += step
    for density in (0, 0.25, 0.5, 0.75, 1):
        out.append(f'<text x="{x(density):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{100 * density:.0f} %</text>')
    out.append(f'<text x="{left + PLOT / 2}" y="{HEIGHT - 10}" text-anchor="middle">density</text>')
    return out, x, y


def line(points, colour, dashes=""):
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "" if dashes else "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points)
    return f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>{dots}'


def nice(high):
    """A step that cuts the axis into four to eight parts."""
    for step in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50):
        if high / step <= 8:
            return step
    return high / 4


def svg(points, origin):
    points = sorted(points, key=lambda p: p["density"])
    p = points[0]
    dense_ms = sorted(q["dense_ms"] for q in points)[len(points) // 2]
    dense_mib = p["in"] * p["out"] * 4 / 2**20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="60" y="22" font-weight="bold">Linear {p["in"]} to {p["out"]}, batch {p["batch"]}, '
           f'{p["block"]} blocks, {p["threads"]} thread, {origin["cpu"]} ({p["instructions"]})</text>']
    high = 1.08 * max([dense_ms] + [q["sparse_rowmajor_ms"] for q in points])
    part, x, y = axes(70, "time of the forward pass", "ms", high, nice(high), 0)
    out += part + [line([(x(0), y(dense_ms)), (x(1), y(dense_ms))], DENSE, ' stroke-dasharray="5 4"'),
                   line([(x(q["density"]), y(q["sparse_ms"])) for q in points], PANELS),
                   line([(x(q["density"]), y(q["sparse_rowmajor_ms"])) for q in points], ROWS),
                   f'<text x="{x(0.02):.1f}" y="{y(dense_ms) - 6:.1f}" fill="{DENSE}">fastest dense, {dense_ms:.1f} ms</text>',
                   f'<text x="{x(0.52):.1f}" y="{y(0.30 * dense_ms):.1f}" fill="{PANELS}">panels kept</text>',
                   f'<text x="{x(0.52):.1f}" y="{y(0.18 * dense_ms):.1f}" fill="{ROWS}">row-major in and out</text>']
    high = 1.15 * max([dense_mib] + [q["weight_bytes"] / 2**20 for q in points])
    part, x, y = axes(500, "weight in memory", "MiB", high, nice(high), 0)
    out += part + [line([(x(0), y(dense_mib)), (x(1), y(dense_mib))], DENSE, ' stroke-dasharray="5 4"'),
                   line([(x(q["density"]), y(q["weight_bytes"] / 2**20)) for q in points], PANELS),
                   f'<text x="{x(0.02):.1f}" y="{y(dense_mib) - 6:.1f}" fill="{DENSE}">dense, {dense_mib:.0f} MiB</text>',
                   f'<text x="{x(0.52):.1f}" y="{y(0.30 * dense_mib):.1f}" fill="{PANELS}">packed, indices included</text>']
    return "\n".join(out + ["</svg>"]) + "\n"
