"""torchvision's ResNet-18 in plain PyTorch, with its names and shapes: torchvision.py write|check FOLDER.

write puts a state dict into resnet18.pt; check loads pruned.pt strictly and compares its outputs with those in outputs.pt. Exit code
77: there is no PyTorch.
"""
import sys

try:
    import torch
except ImportError:
    sys.exit(77)
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None
        if stride != 1 or inputs != width:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        side = x if self.downsample is None else self.downsample(x)
        return self.relu(self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x))))) + side)


class ResNet18(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(BasicBlock(64, 64, 1), BasicBlock(64, 64, 1))
        self.layer2 = nn.Sequential(BasicBlock(64, 128, 2), BasicBlock(128, 128, 1))
        self.layer3 = nn.Sequential(BasicBlock(128, 256, 2), BasicBlock(256, 256, 1))
        self.layer4 = nn.Sequential(BasicBlock(256, 512, 2), BasicBlock(512, 512, 1))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


what, folder = sys.argv[1:]
torch.manual_seed(0)
if what == "write":
    torch.save(ResNet18(1000).state_dict(), f"{folder}/resnet18.pt")
else:
    net = ResNet18(10)
    net.load_state_dict(torch.load(f"{folder}/pruned.pt", weights_only=True), strict=True)
    shown = torch.load(f"{folder}/outputs.pt", weights_only=True)
    with torch.no_grad():
        outputs = net.eval()(shown["x"])
    scale = shown["y"].abs().max()
    difference = ((outputs - shown["y"]).abs().max() / scale).item()
    zeros = (net.layer4[1].conv2.weight == 0).float().mean().item()
    print(f"difference {difference:.2g} of the largest output, {zeros:.3f} of layer4.1.conv2 are zero")
    assert difference < 1e-4 and abs(zeros - 0.9) < 0.01
