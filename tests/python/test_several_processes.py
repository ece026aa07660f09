"""Two processes under DistributedDataParallel keep the same blocks, and what one process would."""

import pytest
import torch
from conftest import batches, net
from torch import nn

import hewn

STEPS = 40


def work(rank, folder, fused, results):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    torch.manual_seed(rank)  # DistributedDataParallel begins with the weights of process 0
    model = nn.parallel.DistributedDataParallel(net())
    options = dict(block=4, sparsity=0.8, steps=STEPS, min_blocks=50)
    if fused:
        pruner = hewn.Pruner(model, "sa++r", **options)
        optimizer = hewn.Optimiser(pruner, "sgd", lr=0.1)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
        pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, **options)
    for x, y in batches(STEPS):
        pruner.step()
        mine = slice(rank, None, 2)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[mine]), y[mine]).backward()
        optimizer.step()
    blocks = pruner.finish()
    results.put((rank, {name: kept.kept for name, kept in blocks.items()}, model.module[2].weight.detach().numpy()))
    torch.distributed.destroy_process_group()


@pytest.mark.skipif(not torch.distributed.is_available(), reason="PyTorch without torch.distributed")
@pytest.mark.parametrize("fused", [False, True])
def test_equal_blocks(tmp_path, fused):
    context = torch.multiprocessing.get_context("spawn")
    results = context.Queue()
    processes = [context.Process(target=work, args=(rank, tmp_path, fused, results)) for rank in range(2)]
    for process in processes:
        process.start()
    found = sorted((results.get() for _ in processes), key=lambda result: result[0])
    for process in processes:
        process.join()
    (_, first, weights), (_, second, others) = found
    assert first == second
    assert (weights == others).all()

    torch.manual_seed(0)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, block=4, sparsity=0.8, steps=STEPS, min_blocks=50,
                         sparse_execution="off")
    for x, y in batches(STEPS):
        pruner.step()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    assert {name: kept.kept for name, kept in pruner.finish().items()} == first
    torch.testing.assert_close(torch.as_tensor(weights), model[2].weight.detach(), rtol=1e-3, atol=1e-4)
