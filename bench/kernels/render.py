"""Markdown tables from kernels.json, put between two marks of a document."""
BEGIN, END = "<!-- kernels.json: begin -->", "<!-- kernels.json: end -->"
PRODUCTS = {"forward": "forward", "grad_input": "input gradient", "grad_weight": "weight gradient"}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def side(block):
    rows, cols = block.split("x")
    return rows if rows == cols else block


def layer(point):
    text = f"{point['in']} -> {point['out']}"
    if point["kind"] == "conv":
        text += f", {point['kernel']}x{point['kernel']} over {point['size']}x{point['size']}"
    return text


def by_sparsity(points, cell):
    """Blocks down, sparsities across."""
    sparsities = sorted({p["sparsity"] for p in points})
    blocks = list(dict.fromkeys(p["block"] for p in points))
    at = {(p["block"], p["sparsity"]): p for p in points}
    return table(["B"] + [f"{100 * s:.0f} %" for s in sparsities],
                 [[side(b)] + [cell(at[b, s]) for s in sparsities] for b in blocks])


def by_layer(points):
    """Layers and batches down, blocks and sparsities across."""
    columns = list(dict.fromkeys((p["block"], p["sparsity"]) for p in points))
    at = {(layer(p), p["batch"], p["block"], p["sparsity"]): p for p in points}
    rows = list(dict.fromkeys((layer(p), p["batch"]) for p in points))
    cell = lambda p: f"{p['speedup']:.2f}x ({100 * p['fraction_of_ideal']:.0f} %)"
    return table(["layer", "batch"] + [f"B={side(b)}, {100 * s:.0f} %" for b, s in columns],
                 [[name, str(batch)] + [cell(at[name, batch, b, s]) for b, s in columns] for name, batch in rows])


def point_rows(points):
    """One row per point and product."""
    for point in points:
        for key, name in PRODUCTS.items():
            part = point if key == "forward" else point.get(key)
            if part is None:
                continue
            low, high = part["speedup_quartiles"]
            row_major = part.get("sparse_rowmajor_ms")
            yield [layer(point), str(point["batch"]), side(point["block"]), f"{100 * point['sparsity']:.0f} %", name,
                   f"{part['dense_ms']:.3f}", part["dense_baseline"], f"{part['sparse_ms']:.3f}",
                   f"{part['speedup']:.2f}x [{low:.2f}, {high:.2f}]", f"{100 * part['fraction_of_ideal']:.0f} %",
                   f"{part['dense_ms'] / row_major:.2f}x" if row_major else "-"]


def flat(points):
    return table(["layer", "batch", "B", "sparsity", "product", "dense ms", "fastest dense", "sparse ms", "speed-up",
                  "of ideal", "row-major"], point_rows(points))


def even(points):
    share = lambda value: "never" if value is None else f"{100 * value:.0f} %"
    return ", ".join(f"B = {side(p['block'])}: {share(p['break_even_sparsity'])}" for p in points)


def networks(points):
    """One row per whole network."""
    rows = []
    for p in points:
        low, high = p["speedup_quartiles"]
        rows.append([p["model"], str(p["batch"]), str(p["threads"]), side(p["block"]), f"{100 * p['sparsity']:.0f} %",
                     f"{p['dense_ms']:.3f}", p["dense_baseline"], f"{p['sparse_ms']:.3f}",
                     f"{p['speedup']:.2f}x [{low:.2f}, {high:.2f}]", f"{100 * p['fraction_of_ideal']:.0f} %",
                     f"{p['dense_bytes'] / 1e6:.2f} MB", f"{p['file_bytes'] / 1e6:.2f} MB"])
    return table(["network", "batch", "threads", "B", "sparsity", "dense ms", "fastest dense", "runtime ms", "speed-up",
                  "of ideal", "dense parameters", "model.hewn"], rows)


# Table -> what is said of it, for those that were measured.
SECTIONS = {
    "linear": lambda points: [
        "**Linear 1024 -> 1024, batch 256, 1 thread**: speed-up over the fastest dense way and, in brackets, share of the "
        "ideal one; activations stay in panels.",
        by_sparsity(points, lambda p: f"{p['speedup']:.2f}x ({100 * p['fraction_of_ideal']:.0f} %)"),
        "The same with row-major activations in and out, converted inside the call:",
        by_sparsity(points, lambda p: f"{p['dense_ms'] / p['sparse_rowmajor_ms']:.2f}x")],
    "break-even": lambda points: [f"Break-even sparsity of this layer: {even(points)}."],
    "ctr": lambda points: ["**A layer of odd sizes**", flat(points)],
    "batch-1": lambda points: ["**Batch 1**, against matrix-vector products too", flat(points)],
    "gradients": lambda points: [
        "**Gradients**: the input gradient re-packs the weight inside the call; the weight gradient gets its activations in "
        "block columns.", flat(points)],
    "conv": lambda points: ["**Convolutions**", flat(points)],
    "resnet50": lambda points: [
        "**The convolutions of ResNet-50 that narrow, and its 3x3 ones**, 1 thread: speed-up over the fastest dense way "
        "and, in brackets, share of the ideal one.", by_layer(points)],
    "conv-gradients": lambda points: [
        "Their gradients: the input gradient re-packs the weight, the weight gradient packs plain images inside the call.",
        flat(points)],
    "threads": lambda points: ["**Two threads** (wall clock)", flat(points)],
    "density": lambda points: ["**Density**, Linear 1024 -> 1024, batch 256, B = 16:",
                               "![Time and size against density](figures/density.svg)"],
    "models": lambda points: [
        "**Whole networks** (`hewn bench model`): the runtime, plain samples in and outputs out, against the fastest dense "
        "way. One thread in CPU time, two by the wall clock.", networks(points)],
}


def text(results):
    """Most tables are from one run, which is said once; the others say where they are from."""
    names = [name for name in SECTIONS if name in results["tables"]]
    origins = {name: "{cpu} ({instructions}), {date}, {rounds} rounds".format(**results["origins"][name]) for name in names}
    common = max(origins.values(), key=list(origins.values()).count)
    parts = [f"CPU: {common}, `bench/kernels/run.py`."]
    for name in names:
        first, *rest = SECTIONS[name](results["tables"][name])
        parts += [first if origins[name] == common else f"{first} CPU: {origins[name]}.", *rest]
    return "\n\n".join(parts)


def into(path, results):
    document = path.read_text()
    before, rest = document.split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n\n{text(results)}\n\n{END}{after}")
