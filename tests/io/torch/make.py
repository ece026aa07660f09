"""Makes the .pt files of this folder: python3 make.py, with PyTorch 1.13.1 as Debian has it."""
import collections
import torch

torch.manual_seed(0)


def counted(dtype, *shape):
    count = int(torch.Size(shape).numel())
    return (torch.arange(count) % 7 - 2).reshape(shape).to(dtype)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)
        self.norm = torch.nn.BatchNorm1d(2)

    def forward(self, x):
        return self.norm(self.fc(x))


net = Net()
with torch.no_grad():
    for value in net.state_dict().values():
        value.copy_(counted(value.dtype, *value.shape))

# With the attribute _metadata that state_dict() gives.
torch.save(net.state_dict(), "state_dict.pt")

names = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()
table = counted(torch.float32, 4, 6)
every = collections.OrderedDict((name, counted(getattr(torch, name), 2, 3)) for name in names)
every["transposed"] = table.t()
every["window"] = table[1:3, 2:5]
every["tied"] = table
every["expanded"] = torch.ones(1).expand(2, 2)
every["channels_last"] = counted(torch.float32, 2, 3, 2, 2).contiguous(memory_format=torch.channels_last)
every["scalar"] = torch.tensor(2.5)
every["empty"] = torch.zeros(0, 3)
every["parameter"] = torch.nn.Parameter(torch.ones(2))
torch.save(every, "types.pt", pickle_protocol=2)
torch.save(every, "types_protocol4.pt", pickle_protocol=4)

optimiser = torch.optim.Adam(net.parameters())
net(torch.ones(4, 3)).sum().backward()
optimiser.step()
with torch.no_grad():
    for value in net.state_dict().values():
        value.copy_(counted(value.dtype, *value.shape))
torch.save({"epoch": 3, "best": torch.tensor(76.5), "loss": 0.5, "done": None,
            "state_dict": {"module." + name: value for name, value in net.state_dict().items()},
            "optimizer": optimiser.state_dict()}, "checkpoint.pt")

torch.save(net, "whole_module.pt")
torch.save(net.state_dict(), "legacy.pt", _use_new_zipfile_serialization=False)
torch.jit.script(net).save("torchscript.pt")
