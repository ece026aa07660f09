#!/usr/bin/env python3
"""The Python package on a GPU with PyTorch 2: torch.compile, a transformers encoder, Lightning, and what a step costs.

    python bench/python/gpu.py [eager] [recorded] [counts] [compile] [bert] [lightning]
"""

import copy
import statistics
import sys
import time
import traceback

import torch
from torch import nn

import hewn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Classifier(nn.Module):
    """A convolution, an encoder layer and two Linear layers: all that a gate can stand in front of."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3, stride=2, padding=1)
        self.encoder = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
        self.hidden = nn.Linear(64, 256)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        x = self.encoder(self.stem(x).flatten(2).transpose(1, 2))
        return self.head(torch.relu(self.hidden(x.mean(1))))


def train(model, forward, steps, **options):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    pruner = hewn.Pruner(model, block=8, sparsity=0.8, steps=steps, optimizer=optimizer, min_blocks=30, **options)
    generator = torch.Generator().manual_seed(1)
    truth = torch.randn(10, 3 * 8 * 8, generator=generator)
    losses = []
    for _ in range(steps):
        x = torch.randn(64, 3, 8, 8, generator=generator)
        y = (x.flatten(1) @ truth.t()).argmax(1)
        pruner.step()
        loss = nn.functional.cross_entropy(forward(x.to(DEVICE)), y.to(DEVICE))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, pruner.finish()


def compiled():
    """Losses of a compiled model beside those of the same model as it is; a break of the graph is an error."""
    torch.manual_seed(0)
    plain = Classifier().to(DEVICE)
    model = copy.deepcopy(plain)
    begin = time.time()
    expected, blocks = train(plain, plain, 60)
    eager = time.time() - begin
    found, kept = train(model, torch.compile(model, fullgraph=True), 60)
    furthest = max(abs(a - b) / abs(a) for a, b in zip(expected, found))
    same = sum(blocks[name] == kept[name] for name in blocks)
    print(f"torch.compile(fullgraph=True), 60 steps: losses {expected[0]:.3f} -> {expected[-1]:.3f}, largest relative "
          f"difference {furthest:.1e}; {same} of {len(blocks)} layers keep the same blocks; eager {eager:.1f} s, "
          f"compiled {time.time() - begin - eager:.1f} s")


def bert():
    """A BERT-style encoder of transformers, pruned under autocast."""
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    config = BertConfig(vocab_size=1000, hidden_size=256, num_hidden_layers=4, num_attention_heads=8,
                        intermediate_size=1024, num_labels=4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    generator = torch.Generator().manual_seed(2)
    marks = torch.arange(4)  # the class of a sequence is the mark in it

    def batch():
        tokens = torch.randint(10, 1000, (64, 48), generator=generator)
        y = torch.randint(4, (64,), generator=generator)
        tokens[torch.arange(64), torch.randint(1, 48, (64,), generator=generator)] = marks[y]
        return tokens.to(DEVICE), y.to(DEVICE)

    for sparsity in (0.0, 0.9):
        torch.manual_seed(0)
        model = BertForSequenceClassification(config).to(DEVICE)
        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
        steps = 400
        pruner = None
        if sparsity > 0:
            pruner = hewn.Pruner(model, block=16, sparsity=sparsity, steps=steps, optimizer=optimizer)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, [g["lr"] for g in optimizer.param_groups], steps)
        for _ in range(steps):
            if pruner is not None:
                pruner.step()
            tokens, y = batch()
            with torch.autocast(DEVICE, torch.bfloat16):
                loss = model(input_ids=tokens, labels=y).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        density = ""
        if pruner is not None:
            blocks = pruner.finish()
            kept = sum(len(b.kept) for b in blocks.values())
            density = f", {kept} of {sum(b.blocks for b in blocks.values())} blocks of {len(blocks)} layers"
        model.eval()
        with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16):
            right = sum((model(input_ids=t).logits.argmax(1) == y).sum().item() for t, y in (batch() for _ in range(20)))
        print(f"transformers BERT 4 x 256, autocast bf16, {steps} steps, {sparsity:.0%}: {right / 12.8:.1f} % right{density}")


def lightning():
    """A pytorch-lightning trainer with the callback; fit, checkpoint and all."""
    import tempfile

    import pytorch_lightning

    class Module(pytorch_lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))

        def training_step(self, batch, index):
            loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3)
            return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)}

    torch.manual_seed(0)
    x = torch.randn(4096, 64)
    y = (x @ torch.randn(64, 4)).argmax(1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 64, shuffle=True)
    callback = hewn.PrunerCallback(sparsity=0.8, block=8, min_blocks=50)
    module = Module()
    with tempfile.TemporaryDirectory() as folder:
        trainer = pytorch_lightning.Trainer(max_epochs=10, callbacks=[callback], accelerator="auto", devices=1,
                                            logger=False, enable_progress_bar=False, enable_model_summary=False,
                                            default_root_dir=folder)
        trainer.fit(module, loader)
    with torch.no_grad():
        right = (module.cpu().net(x).argmax(1) == y).float().mean().item()
    zeros = (module.net[2].weight == 0).float().mean().item()
    print(f"pytorch-lightning {pytorch_lightning.__version__}: {100 * right:.1f} % right, "
          f"{len(callback.blocks)} layers pruned, {100 * zeros:.0f} % of net.2 are zeros")


PHASES = ("DENSE", "SPARSIFICATION", "SPARSE")
PLAIN = "PyTorch"


def resnet50_step(recorded, phase):
    """One training step of ResNet-50 at batch 64 in bf16, channels last; in a phase, pruned. A function of no arguments."""
    import torchvision

    torch.manual_seed(0)
    model = torchvision.models.resnet50().to(DEVICE, memory_format=torch.channels_last)
    x = torch.randn(64, 3, 224, 224, device=DEVICE).to(memory_format=torch.channels_last)
    y = torch.randint(1000, (64,), device=DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
    begin_step = _stay_in(phase, model, optimizer)

    def inner():
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=not recorded):
            loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()  # where it is recorded, backward writes to the memory that it got then
        loss.backward()
        optimizer.step()

    def step():
        begin_step()
        inner()

    if not recorded:
        return step
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    begin_step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        inner()

    def replay():
        begin_step()
        graph.replay()
    replay.uses = (model, x, y, optimizer)  # the recorded launches read them
    return replay


def _stay_in(phase, model, optimizer):
    """What a loop calls before each step, in the middle of a phase of the default method's schedule."""
    if phase == PLAIN:
        return lambda: None
    pruner = hewn.Pruner(model, block=16, sparsity=0.9, optimizer=optimizer)
    last = pruner.phases[-1][2]
    name, begin, end = next(span for span in pruner.phases if span[0] == phase)
    steps = iter(range((begin + end) // 2, end))

    def begin_step():
        assert pruner.step(progress=(next(steps) + 0.5) / last).phase == name
    return begin_step


def ratios(recorded, rounds=9, steps=8):
    """Milliseconds of a step in each phase, and over PyTorch's: medians over groups of steps that take turns."""
    ways = {name: resnet50_step(recorded, name) for name in (PLAIN, *PHASES)}
    for way in ways.values():
        for _ in range(5):
            way()
    wall, cpu = {name: [] for name in ways}, {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            torch.cuda.synchronize()
            begin, begin_cpu = time.perf_counter(), time.process_time()
            for _ in range(steps):
                way()
            cpu[name].append((time.process_time() - begin_cpu) / steps)
            torch.cuda.synchronize()
            wall[name].append((time.perf_counter() - begin) / steps)
    print(f"ResNet-50, batch 64, bf16, {'recorded' if recorded else 'eager'}:")
    for name in ways:
        over = [statistics.median(a / b for a, b in zip(kind[name], kind[PLAIN])) for kind in (wall, cpu)]
        print(f"  {name:15} {1000 * statistics.median(wall[name]):7.2f} ms ({over[0]:.3f})   CPU "
              f"{1000 * statistics.median(cpu[name]):7.2f} ms ({over[1]:.3f})")


def counts():
    """Kernels and calls of operators in an eager step, and where the GPU's time goes that PyTorch's step does not need."""
    from torch.profiler import ProfilerActivity, profile

    found = {}
    for name in (PLAIN, *PHASES):
        step = resnet50_step(False, name)
        for _ in range(3):
            step()
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            step()
            torch.cuda.synchronize()
        events = seen.events()
        kernels = [e for e in events if e.device_type == torch.autograd.DeviceType.CUDA]
        ops = sum(e.device_type == torch.autograd.DeviceType.CPU and "::" in e.name for e in events)
        spent = sum(e.time_range.elapsed_us() for e in kernels) / 1000
        own = sum(e.time_range.elapsed_us() for e in kernels if "hewn" in e.name) / 1000
        found[name] = len(kernels), ops
        print(f"  {name:15} {len(kernels)} kernels ({len(kernels) - found[PLAIN][0]:+d}) in {spent:.2f} ms, "
              f"{own:.3f} ms of them hewn's; {ops} operators ({ops - found[PLAIN][1]:+d})")


if __name__ == "__main__":
    print(f"torch {torch.__version__}, hewn {hewn.__version__}, {DEVICE}")
    parts = {"eager": lambda: ratios(recorded=False), "recorded": lambda: ratios(recorded=True), "counts": counts,
             "compile": compiled, "bert": bert, "lightning": lightning}
    failed = []
    for name in sys.argv[1:] or parts:
        begin = time.time()
        try:
            parts[name]()
            print(f"  [{name}: {time.time() - begin:.0f} s]", flush=True)
        except Exception:  # the others are worth seeing
            print(f"{name}: failed")
            traceback.print_exc(limit=6)
            failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
